internal import SettleCore
internal import SettleCrypto
internal import SettlePlatform

/// A document in a database of revision trees: Couchbase Lite up to 3.x, and databases that 4.x keeps that way.
///
///     1-a ─ 2-b ─ 3-c        current: the leaf that is in no conflict
///       └── 2-x              the server's, in a conflict until the app settles
///
/// After its own push it records the current revision as the server's, and proposes the next one with that as
/// `known`. A server revision on another branch than the last one is a change of branches, and a conflict only if
/// there is an unsent edit.
struct LiteTree: LiteDocument {
    private struct Node {
        var parent: String?
        var isDeleted = false
        /// Whether a deletion ends a branch, rather than the document.
        var isClosed = false
        var isConflict = false
        var body: JSONObject?
    }

    private var nodes: [String: Node] = [:]
    /// The server's revision.
    private(set) var remote: String?

    /// The names of all revisions.
    var names: [String] { nodes.keys.sorted(by: Self.isHigher) }

    func contains(_ name: String) -> Bool { nodes[name] != nil }

    func revision(_ name: String) -> LiteRevision? {
        nodes[name].map { LiteRevision(name: name, body: $0.body ?? [:], isDeleted: $0.isDeleted) }
    }

    /// The generation in a name.
    static func generation(_ name: String) -> UInt64 { UInt64(name.prefix { $0 != "-" }) ?? 0 }

    private static func isHigher(_ first: String, _ second: String) -> Bool {
        let (one, other) = (generation(first), generation(second))
        return one == other ? first > second : one > other
    }

    private var leaves: [String] {
        let parents = Set(nodes.values.compactMap(\.parent))
        return nodes.keys.filter { !parents.contains($0) }.sorted { first, second in
            guard let one = nodes[first], let other = nodes[second] else { return false }
            if one.isConflict != other.isConflict { return other.isConflict }
            if one.isDeleted != other.isDeleted { return other.isDeleted }
            if one.isClosed != other.isClosed { return other.isClosed }
            return Self.isHigher(first, second)
        }
    }

    private var currentName: String { leaves.first ?? "" }
    var current: LiteRevision { revision(currentName) ?? LiteRevision(name: "", body: [:], isDeleted: true) }
    var isConfused: Bool { false }
    var conflict: LiteRevision? {
        leaves.first { nodes[$0]?.isConflict == true && (nodes[$0]?.isDeleted == false || $0 == remote) }.flatMap(
            revision)
    }

    func isAncestor(_ name: String, of other: String) -> Bool { path(of: other).contains(name) }

    /// A revision and its ancestors, newest first.
    private func path(of name: String) -> [String] {
        var (path, next) = ([String](), Optional(name))
        while let name = next, let node = nodes[name] {
            path.append(name)
            next = node.parent
        }
        return path
    }

    // MARK: - Editing

    mutating func edit(_ body: JSONObject, isDeleted: Bool, _ clock: inout LiteClock) {
        add(body, isDeleted: isDeleted, parent: nodes.isEmpty ? nil : currentName)
    }

    private mutating func add(_ body: JSONObject, isDeleted: Bool, isClosed: Bool = false, parent: String?) {
        let generation = (parent.map(Self.generation) ?? 0) + 1
        let bytes = Array((parent ?? "").utf8) + [isDeleted ? 1 : 0] + JSONValue.object(body).utf8
        let name = "\(generation)-\(Hexadecimal.encode(SHA1.hash(bytes)))"
        nodes[name] = Node(parent: parent, isDeleted: isDeleted, isClosed: isClosed, body: body)
    }

    // MARK: - Pushing

    var proposal: LiteProposal? {
        let name = currentName
        guard remote.map({ !isAncestor(name, of: $0) }) ?? true else { return nil }
        return LiteProposal(name: name, known: remote)
    }

    func descends(from text: String) -> Bool { isAncestor(text, of: currentName) }

    func properties(known: String?, maxHistory: Int) -> [String: String] {
        let all = path(of: currentName)
        var path = all[...]
        if let known, let index = path.firstIndex(of: known) { path = path[...index] }
        var sent = Array(path.prefix(maxHistory))
        // The revision that the server has is always included.
        if let last = path.last, last == known, sent.last != last { sent[sent.count - 1] = last }
        var properties = ["rev": currentName]
        if sent.count > 1 { properties["history"] = sent.dropFirst().joined(separator: ",") }
        if current.isDeleted { properties["deleted"] = "1" }
        if known.map(all.contains) ?? true { properties["noconflicts"] = "true" }
        return properties
    }

    mutating func markSynced() { remote = currentName }

    // MARK: - Pulling

    func verdict(on name: String) -> LiteVerdict {
        if contains(name) {
            // A revision on another branch is known too.
            return .known(isMarked: name == remote)
        }
        let generation = Self.generation(name)
        return .wanted(
            names.filter { Self.generation($0) < generation && nodes[$0]?.body != nil }.prefix(10).map(\.self))
    }

    mutating func setRemote(_ name: String, isPushed: Bool) { if contains(name) { remote = name } }

    mutating func insert(_ pulled: LitePull, _ clock: inout LiteClock) throws {
        let history = [pulled.name] + pulled.history.split(separator: ",").map { String($0).trimmingBlanks() }
        let last = nodes.isEmpty ? nil : currentName
        if !contains(pulled.name) {
            let known = history.firstIndex(where: contains) ?? history.count
            var parent = known < history.count ? history[known] : nil
            for index in (0..<known).reversed() {
                if let lower = parent, Self.generation(history[index]) != Self.generation(lower) + 1 {
                    throw LiteFault(domain: "LiteCore", code: 10, message: "Bad revision history (non-sequential)")
                }
                let isConflict =
                    parent.map { nodes[$0]?.isConflict == true || !leaves.contains($0) } ?? !nodes.isEmpty
                nodes[history[index]] = Node(
                    parent: parent, isDeleted: index == 0 && pulled.isDeleted, isConflict: isConflict,
                    body: index == 0 ? pulled.body : nil)
                parent = history[index]
            }
        }
        if let old = remote, contains(old), !isAncestor(old, of: pulled.name) {
            // An older revision that arrives late is ignored.
            guard !isAncestor(pulled.name, of: old) else { return }
            if nodes[old]?.isConflict == true {
                purge(old)
            } else if old == last {
                clearConflict(pulled.name)
                purge(old)
            }
        }
        remote = pulled.name
    }

    /// Removes a leaf, and the ancestors that belong only to its branch.
    private mutating func purge(_ leaf: String) {
        guard leaves.contains(leaf) else { return }
        var next = Optional(leaf)
        while let name = next, !nodes.values.contains(where: { $0.parent == name }) {
            next = nodes.removeValue(forKey: name)?.parent
        }
        if remote.map({ !contains($0) }) == true { remote = nil }
        if let first = leaves.first, nodes[first]?.isConflict == true { clearConflict(first) }
    }

    private mutating func clearConflict(_ leaf: String) {
        for name in path(of: leaf) { nodes[name]?.isConflict = false }
    }

    mutating func resolve(_ resolver: LiteResolver, _ clock: inout LiteClock) {
        guard let theirs = conflict else { return }
        let mine = current
        let choice = resolver.choose(mine, theirs, isLocalLater: Self.isHigher(mine.name, theirs.name))
        // In both outcomes the server's branch stays the current one.
        clearConflict(theirs.name)
        if mine.name == remote {
            add([:], isDeleted: true, isClosed: true, parent: mine.name)
        } else {
            purge(mine.name)
        }
        switch choice {
        case .remote: break
        case .local: add(mine.body, isDeleted: mine.isDeleted, parent: theirs.name)
        case .merged(let body, let isDeleted): add(body, isDeleted: isDeleted, parent: theirs.name)
        }
    }
}
