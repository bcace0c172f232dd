internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A conflict as `GET /{db}/_conflicts/{docid}` shows it.
struct ConflictAnswer {
    let database: Database
    let record: DocumentRecord
    /// `nil` if the document is in no conflict.
    let conflict: Conflict?
    /// What the ready policies do with the conflict, if that is asked for.
    private var outlooks: [(policy: ReadyPolicy, outlook: Outlook)] = []

    /// What a policy does with the conflict.
    private enum Outlook {
        /// It settles it.
        case settles(SettlementEffect)
        /// It does not settle it, for a reason.
        case stays(String)
        /// The leaves are too long to try all policies in one request.
        case untried
    }

    /// Bodies up to this size in all are part of the answer, so that memory stays bounded.
    private static let maximumBytes = 16 << 20

    /// Reads a document and its conflict together, and tries the ready policies if that is wanted.
    ///
    /// - Throws: ``HTTPError/missing``; ``DatabaseError``.
    init(_ id: DocumentID, in database: Database, tryingPolicies: Bool = false) throws {
        self.database = database
        typealias Found = (DocumentRecord, Conflict?, [(policy: ReadyPolicy, outlook: Outlook)])
        (record, conflict, outlooks) = try database.snapshot { () throws -> Found in
            guard let record = try database.record(of: id), !record.tree.isEmpty else { throw HTTPError.missing }
            let found = try database.conflict(of: id)
            guard tryingPolicies, let conflict = found else { return (record, found, []) }
            let isLong = conflict.leaves.reduce(0) { $0 + $1.bodyOrEmpty.utf8.count } > Self.maximumBytes
            let outlooks = try ReadyPolicy.all.map { policy in
                (policy: policy, outlook: try isLong ? Outlook.untried : Self.outlook(of: policy, conflict, database))
            }
            return (record, found, outlooks)
        }
    }

    private static func outlook(
        of policy: ReadyPolicy, _ conflict: Conflict, _ database: Database
    ) throws -> Outlook {
        if let obstacle = policy.obstacle(to: conflict) { return .stays(obstacle) }
        do {
            guard let preview = try database.preview(conflict.documentID, using: policy.policy()) else {
                return .stays("It has nothing to decide.")
            }
            let effect = SettlementEffect(preview)
            return effect.outcome == .leaves ? .stays(preview.decision?.reason ?? effect.words) : .settles(effect)
        } catch let error as DatabaseError where error.code.isOfOneDocument { return .stays(HTTPError(error).reason) }
    }

    /// A tag that changes with the leaves, and when the content of a revision is no longer kept.
    var tag: String {
        let told = record.tree.allNodes.filter { $0.isLeaf || $0.bodyToken != BodyToken.none }
        let revisions = told.map(\.revision) + [conflict?.base?.revision].compactMap(\.self)
        let text = revisions.map(\.description).joined(separator: ",")
        return Hexadecimal.encode(HashFunction.sha256.hash(Array(text.utf8)).prefix(12))
    }

    /// The answer, with or without contents, and with the tree in a form or without it.
    func json(documents hasDocuments: Bool, tree form: ConflictTree.Form?) throws -> JSONValue {
        var left = hasDocuments ? Self.maximumBytes : 0
        var answer: JSONObject = [
            "id": .string(record.id.string), "conflict": .bool(conflict != nil),
            "rev": SettlementJSON.revision(record.tree.winner?.revision),
        ]
        if let conflict {
            answer["kind"] = .string(SettlementJSON.kind(conflict.kind))
            answer["resolvers"] = .array(
                conflict.resolvers.map { .string($0.description) }.sorted { $0.string ?? "" < $1.string ?? "" })
            answer["base"] =
                try conflict.base.map { base in
                    var row: JSONValue = ["rev": SettlementJSON.revision(base.revision)]
                    if hasDocuments { row["doc"] = try document(base, &left) }
                    return row
                } ?? .null
            answer["missing_base"] = conflict.missingBase.map { .string(Self.name(of: $0)) } ?? .null
            answer["leaves"] = .array(try conflict.leaves.map { try leaf($0, conflict, hasDocuments, &left) })
            if !outlooks.isEmpty { answer["policies"] = policies }
        }
        if let form { answer["tree"] = try ConflictTree(database: database, record: record).json(form) }
        return .object(answer)
    }

    /// The ready policies, each with its effect or the reason why it does not settle the conflict.
    private var policies: JSONValue {
        var left = SettlementJSON.effectBytes
        var rows: [JSONValue] = []
        for (policy, outlook) in outlooks {
            var row: JSONObject = ["name": .string(policy.name)]
            switch outlook {
            case .settles(let effect):
                row["settles"] = true
                row["effect"] = SettlementJSON.effect(effect, within: &left)
            case .stays(let reason):
                row["settles"] = false
                row["reason"] = .string(reason)
            case .untried: row["omitted"] = true
            }
            rows.append(.object(row))
        }
        return .array(rows)
    }

    private func leaf(
        _ leaf: Document, _ conflict: Conflict, _ hasDocuments: Bool, _ left: inout Int
    ) throws -> JSONValue {
        var row: JSONValue = ["rev": SettlementJSON.revision(leaf.revision), "deleted": .bool(leaf.isDeleted)]
        if let side = conflict.side(of: leaf) { row["side"] = .string(side) }
        if let base = conflict.base, !leaf.isDeleted {
            row["differs"] = .array(MemberDifference.between(base, leaf).map { .string($0.path) })
        }
        if hasDocuments {
            if let told = try document(leaf, &left) { row["doc"] = told } else { row["omitted"] = true }
        }
        let moments = ClockedDocument(leaf.json.object ?? JSONObject(), isDeleted: leaf.isDeleted).moments
        if !moments.isEmpty {
            row["moments"] = .object(
                JSONObject(
                    moments.map { path, moment in
                        (path, ["at": .number(JSONNumber(moment.milliseconds)), "device": .string(moment.device)])
                    }))
        }
        return row
    }

    /// A document in CouchDB's form; `nil` if there is no room left for it.
    private func document(_ document: Document, _ left: inout Int) throws -> JSONValue? {
        guard let revision = document.revision else { return nil }
        let body = try document.body()
        left -= body.utf8.count
        guard left > 0 else { return nil }
        let content = RevisionContent(body: body, attachments: document.attachments)
        let printer = DocumentPrinter(source: database, options: DocumentOptions())
        return try JSONValue(utf8: printer.print(revision, content, of: record, hasMeta: false).text.bytes)
    }

    private static func name(of missing: Conflict.MissingBase) -> String {
        switch missing {
        case .noCommonRevision: "none_in_common"
        case .unknown: "unknown"
        case .contentNotKept: "content_not_kept"
        }
    }
}
