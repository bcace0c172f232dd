internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// How a request wants conflicts to be settled: exactly one of `policy`, `keep`, `delete` and `doc`.
///
///     {"policy": {"name": NAME, "rules": {"/count": "sum"}, "on_clash": "winner"},
///      "picks": {"/name": {"rev": "2-0b…"}}, "leaves": ["2-b0…", "2-aa…"], "dry_run": true}
struct SettleRequest {
    /// The policy that decides, named after the policy or the way.
    let policy: ConflictPolicy
    /// Whether the result may have content that no leaf has.
    let isInvented: Bool
    /// The members that were picked.
    let picked: Set<ExactText>
    /// The leaves that somebody has seen; `nil` if the request does not name them.
    let leaves: Set<RevisionID>?
    /// Whether nothing is written.
    let isDryRun: Bool

    /// How many rules and how many picks a request may have.
    private static let maximumRules = 1000
    private static let ways = ["policy", "keep", "delete", "doc"]

    /// Reads a request about one document.
    ///
    /// - Throws: ``HTTPError`` with status 400, or 412 for an attachment that no leaf has.
    init(_ members: JSONObject, about id: DocumentID, leaves of: [Document]) throws {
        try members.requireMembers(among: Self.ways + ["picks", "leaves", "dry_run"])
        isDryRun = try Self.flag(members, "dry_run")
        leaves = try members["leaves"].map { try Self.revisions($0) }
        let given = Self.ways.filter { members[$0].map { !$0.isNull && $0 != false } ?? false }
        guard given.count == 1, let way = given.first, let value = members[way] else {
            throw HTTPError.badRequest("Say exactly one of `policy`, `keep`, `delete` and `doc`.")
        }
        let picks = try members["picks"].map(Self.picks) ?? []
        picked = Set(picks.map { ExactText($0.path) })
        guard picks.isEmpty || way == "policy" else {
            throw HTTPError.badRequest("`picks` are laid over a merge, so they need a `policy`.")
        }
        guard leaves != nil || way == "policy" && picks.isEmpty || isDryRun else {
            throw HTTPError.badRequest("`leaves` must name the revisions that the decision is about.")
        }
        isInvented = way == "doc" || picks.contains { if case .value = $0.choice { true } else { false } }
        var policy: ConflictPolicy
        switch way {
        case "keep":
            let kept = try Self.revision(value)
            policy = .custom("keep", deletions: true) { _ in .keep(kept) }
        case "delete": policy = .custom("delete", deletions: true) { _ in .delete }
        case "doc":
            let (body, attachments) = try Self.document(value, of)
            policy = .custom("doc", deletions: true) { _ in .merged(body, attachments: attachments) }
        default: policy = try Self.policy(value, deciding: picks.map(\.path)).laying(picks)
        }
        // A person has decided about all the leaves, racing answers among them.
        if way != "policy" || !picks.isEmpty { policy.endsRaces = false }
        self.policy = policy
    }

    /// Reads the policy of a request about many documents.
    static func policy(_ value: JSONValue, deciding picked: [String] = []) throws -> ConflictPolicy {
        let members = value.object ?? ["name": value]
        try members.requireMembers(among: ["name", "rules", "on_clash", "deletions_win"])
        guard let name = (members["name"] ?? .string(ReadyPolicy.defaultName)).string else {
            throw HTTPError.badRequest("`policy` must be a name, or an object with a `name`.")
        }
        func rule(_ value: JSONValue) throws -> MergeRule {
            guard let rule = value.string.flatMap(ReadyRule.rule) else {
                throw unknown("rule", value, ReadyRule.all.map(\.name))
            }
            return rule
        }
        var rules = MergeRules()
        if let value = members["on_clash"] { rules.onClash = try rule(value) }
        if let value = members["rules"] {
            guard let object = value.object, object.count <= maximumRules else {
                throw HTTPError.badRequest("`rules` must be an object of at most \(maximumRules) members.")
            }
            for member in object { rules[member.name] = try rule(member.value) }
        }
        for path in picked { rules[path] = .winner }
        if let path = rules.badPaths.first { throw HTTPError.badRequest("\"\(path)\" is no JSON pointer.") }
        let deletionsWin = try flag(members, "deletions_win")
        guard let policy = ReadyPolicy.named(name) else {
            throw unknown("policy", .string(name), ReadyPolicy.all.map(\.name))
        }
        let allowed = policy.options.map(\.rawValue) + ["name"]
        guard members.allSatisfy({ allowed.contains($0.name) || $0.value == false }) else {
            let names = ReadyPolicy.names(with: .rules)
            throw HTTPError.badRequest("Rules are for the policy \(names); \(name) does not use them.")
        }
        return policy.policy(rules, deletionsWin: deletionsWin)
    }

    /// A member that is true or false.
    static func flag(_ members: JSONObject, _ name: String) throws -> Bool {
        guard let value = members[name] else { return false }
        guard let flag = value.bool else { throw HTTPError.badRequest("`\(name)` must be true or false.") }
        return flag
    }

    private static func unknown(_ what: String, _ value: JSONValue, _ names: [String]) -> HTTPError {
        let given = value.string ?? value.description
        let nearest = NearestWord.find(given, in: names).map { " Did you mean \($0)?" } ?? ""
        return HTTPError.badRequest(
            "There is no \(what) \(given); there are \(names.joined(separator: ", ")).\(nearest)")
    }

    private static func revision(_ value: JSONValue) throws -> RevisionID {
        guard let revision = value.string.flatMap({ RevisionID($0) }) else { throw HTTPError.invalidRevision }
        return revision
    }

    private static func revisions(_ value: JSONValue) throws -> Set<RevisionID> {
        guard let list = value.array else { throw HTTPError.badRequest("`leaves` must be a list of revisions.") }
        return Set(try list.map(revision))
    }

    private static func picks(_ value: JSONValue) throws -> [MemberPick] {
        guard let object = value.object, object.count <= maximumRules else {
            throw HTTPError.badRequest("`picks` must be an object of at most \(maximumRules) members.")
        }
        return try object.map { member in
            guard member.name.utf8.first == UInt8(ascii: "/") else {
                throw HTTPError.badRequest("\"\(member.name)\" is no JSON pointer of a member.")
            }
            guard let pick = member.value.object, pick.count == 1, let chosen = pick.first else {
                throw HTTPError.badRequest("A pick has one of `rev`, `value`, `removed` and `base`.")
            }
            switch chosen.name {
            case "rev": return MemberPick(member.name, .leaf(try revision(chosen.value)))
            case "value": return MemberPick(member.name, .value(chosen.value))
            case "removed": return MemberPick(member.name, .removed)
            case "base": return MemberPick(member.name, .base)
            default: throw HTTPError.badRequest("A pick has one of `rev`, `value`, `removed` and `base`.")
            }
        }
    }

    /// A document's members and attachments; an attachment is a stub of one that a leaf has.
    private static func document(
        _ value: JSONValue, _ leaves: [Document]
    ) throws -> (DocumentBody, [DocumentAttachment]) {
        guard var members = value.object else { throw HTTPError.badRequest("`doc` must be an object.") }
        let stubs = members[WireAttachment.listName]?.object ?? JSONObject()
        for name in ["_id", "_rev", WireAttachment.listName, "_deleted"] { members[name] = nil }
        if let name = members.names.first(where: { $0.hasPrefix("_") }) {
            throw HTTPError.invalidDocument("Bad special document member: \(name)")
        }
        let attachments = try stubs.map { stub -> DocumentAttachment in
            let wanted = stub.value["digest"]?.string
            let all = leaves.flatMap(\.attachments).filter { $0.isNamed(stub.name) }
            guard let found = all.first(where: { wanted == nil || $0.digest.description == wanted }) else {
                throw HTTPError.missingStub("No leaf has the attachment \(stub.name).")
            }
            return found
        }
        return (try DocumentBody(.object(members)), attachments)
    }
}
