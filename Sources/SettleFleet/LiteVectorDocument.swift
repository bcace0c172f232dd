internal import SettleCore
internal import SettleMobile
internal import SettlePlatform

/// A document in a database of version vectors, made by Couchbase Lite 4, or by Couchbase Lite 4 from a revision
/// tree.
///
/// After its own push it knows the whole vector, but names the server's revision by its current version only: that
/// is the text after the proposed version in `proposeChanges`. A document from before the upgrade keeps its
/// revision id until it is edited. Such ids count as versions of one common source, by their generation and digest,
/// even on different branches.
struct LiteVectorDocument: LiteDocument {
    private enum Name: Hashable {
        case legacy(String)
        case vector(LiteVector)

        var text: String {
            switch self {
            case .legacy(let id): id
            case .vector(let vector): vector.current.description
            }
        }

        var vector: LiteVector {
            switch self {
            case .legacy(let id): LiteVector(LiteVectorDocument.version(id))
            case .vector(let vector): vector
            }
        }

        var isLegacy: Bool { if case .legacy = self { true } else { false } }
    }

    private struct Revision {
        var name: Name
        var body: JSONObject?
        var isDeleted = false
        var isConflicted = false

        var content: LiteRevision { LiteRevision(name: name.text, body: body ?? [:], isDeleted: isDeleted) }
    }

    /// The versions that a revision has seen, and the revision ids from before.
    private struct Past {
        var vector: LiteVector?
        /// The revision ids, newest first.
        var legacy: [String] = []

        init(_ name: Name, _ last: String? = nil) {
            switch name {
            case .legacy(let id): legacy = [id]
            case .vector(let known): vector = known
            }
            if let last, legacy.isEmpty { legacy = [last] }
        }

        /// Parses a text with versions, followed by revision ids.
        init?(_ text: String) {
            let parts = text.split(separator: ";", maxSplits: 1).map { part in
                part.split(separator: ",").map { String($0).trimmingBlanks() }.filter { !$0.isEmpty }
            }
            legacy = parts.flatMap(\.self).filter { !$0.contains("@") }
            let versions = parts.map { $0.filter { $0.contains("@") }.joined(separator: ",") }
            guard versions.contains(where: { !$0.isEmpty }) else { return }
            vector = LiteVector(versions.joined(separator: ";"))
            if vector == nil { return nil }
        }

        func order(to other: Past) -> LiteOrder {
            func isSame(_ id: Past, _ version: Past) -> Bool {
                id.vector == nil && version.vector.map(\.current) == id.legacy.first.map(LiteVectorDocument.version)
            }
            if vector == nil || other.vector == nil, isSame(self, other) || isSame(other, self) { return .same }
            let versions = Self.extended(vector != nil, other.vector != nil) { [self] in
                vector.flatMap { mine in other.vector.map { mine.order(to: $0) } } ?? .same
            }
            let ids = Self.extended(!legacy.isEmpty, !other.legacy.isEmpty) { Self.order(legacy, other.legacy) }
            guard versions < 6, ids < 6 else { return .conflicting }
            return LiteOrder(rawValue: Self.orders[versions][ids]) ?? .conflicting
        }

        /// LiteCore's table: the relation of the versions, by the relation of the ids; see ``extended(_:_:_:)``.
        private static let orders = [
            [0, 1, 2, 0, 1, 2], [1, 1, 3, 1, 1, 3], [2, 3, 2, 2, 3, 2],
            [0, 3, 3, 0, 3, 3], [1, 3, 3, 1, 3, 3], [2, 3, 3, 2, 3, 3],
        ]

        /// 0 if both are empty, 1 or 2 if one is, 3 or more for the order of two that are not empty.
        private static func extended(_ isMine: Bool, _ isOther: Bool, _ order: () -> LiteOrder) -> Int {
            isMine && isOther ? 3 + order().rawValue : LiteOrder(isNewer: isMine, isOlder: isOther).rawValue
        }

        private static func order(_ first: [String], _ second: [String]) -> LiteOrder {
            for (index, id) in first.enumerated() {
                if let place = second.firstIndex(of: id) { return LiteOrder(isNewer: index > 0, isOlder: place > 0) }
            }
            return .conflicting
        }
    }

    private var local: Revision
    private var remote: Revision?
    /// The last revision id before the first version.
    private var lastLegacy: String?
    /// Whether the record still has the form from before the upgrade.
    private var isTree = false
    private(set) var isConfused = false
    /// The device.
    private let source: DocumentVersion.Source

    /// A new document.
    init(_ body: JSONObject, isDeleted: Bool, _ clock: inout LiteClock) {
        source = clock.source
        local = Revision(name: .vector(LiteVector(clock.next())), body: body, isDeleted: isDeleted)
    }

    /// A document that is pulled for the first time.
    init(_ pulled: LitePull, _ clock: inout LiteClock) throws {
        source = clock.source
        let name = try Self.name(pulled, &clock)
        local = Revision(name: name, body: pulled.body, isDeleted: pulled.isDeleted)
        remote = local
    }

    /// The document in a database that was upgraded.
    init(_ tree: LiteTree, _ source: DocumentVersion.Source) {
        self.source = source
        local = Revision(name: .legacy(tree.current.name), body: tree.current.body, isDeleted: tree.current.isDeleted)
        remote = tree.remote.flatMap(tree.revision).map { old in
            Revision(
                name: .legacy(old.name), body: old.body, isDeleted: old.isDeleted,
                isConflicted: tree.conflict?.name == old.name)
        }
        isTree = true
    }

    /// The version that a revision id counts as: its generation, and the first 40 bits of its digest.
    private static func version(_ id: String) -> DocumentVersion {
        let digits = id.drop { $0 != "-" }.dropFirst().prefix(10)
        let digest = UInt64(digits + String(repeating: "0", count: 10 - digits.count), radix: 16) ?? 0
        return DocumentVersion(time: LiteTree.generation(id) << 40 | digest, source: .tree)
    }

    var current: LiteRevision { local.content }
    var conflict: LiteRevision? { remote.flatMap { $0.isConflicted ? $0.content : nil } }

    /// Whether LiteCore has stored a revision id in the form of vectors, which it then fails to look up.
    private var isUnreadable: Bool { local.name.isLegacy && !isTree }

    private var isFromTree: Bool { local.name.isLegacy || lastLegacy != nil }

    private mutating func save(_ revision: Revision) {
        if case .legacy(let id) = local.name, !revision.name.isLegacy, lastLegacy == nil { lastLegacy = id }
        local = revision
        isTree = false
    }

    // MARK: - Editing

    mutating func edit(_ body: JSONObject, isDeleted: Bool, _ clock: inout LiteClock) {
        let version = clock.next()
        var vector = LiteVector(version)
        if case .vector(let known) = local.name {
            vector = known
            vector.add(version)
        }
        save(Revision(name: .vector(vector), body: body, isDeleted: isDeleted))
    }

    // MARK: - Pushing

    var proposal: LiteProposal? {
        let (name, known) = (local.name.text, remote?.name.text)
        return name == known ? nil : LiteProposal(name: name, known: known)
    }

    func descends(from text: String) -> Bool {
        guard let other = Past(text) else { return false }
        // LiteCore writes its own source as `*` in its vectors, but not in the text that it compares with.
        if other.vector?.current.source == source { return false }
        let order = Past(local.name, lastLegacy).order(to: other)
        return order == .newer || order == .same
    }

    func properties(known: String?, maxHistory: Int) -> [String: String] {
        var properties = ["rev": local.name.text, "noconflicts": "true"]
        if local.isDeleted { properties["deleted"] = "1" }
        var ids = lastLegacy.map { [$0] } ?? []
        if case .legacy(let id) = local.name { ids.insert(id, at: 0) }
        if let remote, case .legacy(let id) = remote.name, !remote.isConflicted,
            LiteTree.generation(id) < ids.last.map(LiteTree.generation) ?? .max
        {
            ids.append(id)
        }
        ids.sort { LiteTree.generation($0) > LiteTree.generation($1) }
        ids = ids.enumerated().filter { $0 == 0 || ids[$0 - 1] != $1 }.map(\.element)
        if let known, let end = ids.firstIndex(of: known) { ids = Array(ids[...end]) }
        var text = ids.joined(separator: ", ")
        if case .vector(let vector) = local.name {
            let separator = text.isEmpty ? "" : vector.hasOlder ? ", " : vector.text.hasSuffix(";") ? " " : "; "
            text = vector.text + separator + text
        }
        let history = String(text.dropFirst(local.name.text.count + 1)).trimmingBlanks()
        if !history.isEmpty { properties["history"] = history }
        return properties
    }

    mutating func markSynced() { remote = local }

    // MARK: - Pulling

    func verdict(on name: String) throws -> LiteVerdict {
        if isUnreadable {
            throw LiteFault(domain: "SQLite", code: 1, message: "RawRevision dcodeTree revIndex error at remoteMap")
        }
        let order = Self.order(local.name, to: name)
        let isMarked = remote.map { Self.order($0.name, to: name) == .same } ?? false
        if order == .newer || order == .same { return .known(isMarked: isMarked) }
        var names = [local.name.text]
        if let remote, remote.body != nil, remote.name.text != names[0] { names.append(remote.name.text) }
        return .wanted(names)
    }

    /// The relation of a stored revision to an offered one.
    private static func order(_ name: Name, to text: String) -> LiteOrder {
        switch (name, LiteVector(text)) {
        case (.vector(let own), let offered?): return own.order(to: offered)
        case (.legacy(let id), let offered?): return order(version(id), to: offered)
        case (.vector(let own), nil):
            // LiteCore reverses the order in this case.
            let turned: [LiteOrder] = [.newer, .older, .same]
            return turned[order(version(text), to: own).rawValue % 3]
        case (.legacy(let id), nil):
            if id == text { return .same }
            let (own, offered) = (LiteTree.generation(id), LiteTree.generation(text))
            return own == offered ? .conflicting : own < offered ? .older : .newer
        }
    }

    private static func order(_ id: DocumentVersion, to vector: LiteVector) -> LiteOrder {
        guard vector.current.source == .tree else { return .older }
        return LiteOrder(isNewer: id.time > vector.current.time, isOlder: id.time < vector.current.time)
    }

    mutating func setRemote(_ name: String, isPushed: Bool) {
        if local.name.text == name || isPushed && Self.order(local.name, to: name) == .same {
            remote = local
        } else if remote?.name.text != name {
            isConfused = isConfused || isFromTree
            remote = Revision(name: LiteVector(name).map { .vector(LiteVector($0.current)) } ?? .legacy(name))
        }
        isTree = false
    }

    private static func name(_ pulled: LitePull, _ clock: inout LiteClock) throws -> Name {
        guard let past = past(pulled) else {
            throw LiteFault(domain: "LiteCore", code: 10, message: "Invalid version vector")
        }
        guard let vector = past.vector else { return .legacy(past.legacy[0]) }
        clock.see(vector)
        return .vector(vector)
    }

    private static func past(_ pulled: LitePull) -> Past? {
        guard !pulled.history.isEmpty, pulled.name.contains("@") else {
            return Past(pulled.history.isEmpty ? pulled.name : pulled.name + "," + pulled.history)
        }
        return Past(pulled.name + (pulled.history.contains(";") ? ", " : "; ") + pulled.history)
    }

    mutating func insert(_ pulled: LitePull, _ clock: inout LiteClock) throws {
        let name = try Self.name(pulled, &clock)
        guard let new = Self.past(pulled) else { return }
        let mine = Past(local.name, lastLegacy)
        var order = new.order(to: mine)
        if let own = mine.vector, new.vector?.mergesSame(as: own) == true, pulled.body == local.body { order = .same }
        if order == .conflicting, local.isDeleted, let remote, remote.name == local.name,
            mine.vector.map({ own in new.vector.map { !own.sharesVersion(with: $0) } ?? true }) ?? true,
            mine.legacy.first.map({ !new.legacy.contains($0) }) ?? true
        {
            // The server had the document as deleted, so the device has created it again, independently of its
            // history.
            order = .newer
        }
        var revision = Revision(name: name, body: pulled.body, isDeleted: pulled.isDeleted)
        isConfused = isConfused || isFromTree && order != .newer
        if order == .newer { save(revision) }
        revision.isConflicted = order == .conflicting
        remote = revision
        isTree = false
    }

    mutating func resolve(_ resolver: LiteResolver, _ clock: inout LiteClock) {
        guard var theirs = remote, theirs.isConflicted else { return }
        let mine = local
        let isLater = mine.name.vector.current.time > theirs.name.vector.current.time
        theirs.isConflicted = false
        var choice = resolver.choose(mine.content, theirs.content, isLocalLater: isLater)
        if case .merged(let body, let isDeleted) = choice, body == theirs.body, isDeleted == theirs.isDeleted {
            choice = .remote
        }
        switch choice {
        case .merged(let body, let isDeleted):
            let name = Self.merged(theirs.name, mine.name, &clock)
            save(Revision(name: .vector(name), body: body, isDeleted: isDeleted))
        case .local:
            save(
                Revision(
                    name: Self.localWins(mine.name, theirs.name, &clock), body: mine.body, isDeleted: mine.isDeleted))
            if case .legacy(let id) = theirs.name { lastLegacy = id }
        case .remote:
            save(
                Revision(name: Self.remoteWins(mine.name, theirs.name), body: theirs.body, isDeleted: theirs.isDeleted))
        }
        remote = theirs
    }

    /// Whether both sides come from revision ids, which share one source.
    private static func areLegacy(_ first: Name, _ second: Name) -> Bool {
        [first, second].allSatisfy { $0.isLegacy || $0.vector.current.source == .tree }
            && (first.isLegacy || second.isLegacy)
    }

    private static func merged(_ theirs: Name, _ mine: Name, _ clock: inout LiteClock) -> LiteVector {
        guard !areLegacy(theirs, mine), theirs.vector.current.source != mine.vector.current.source else {
            return LiteVector(clock.next())
        }
        clock.see(theirs.vector)
        return .merge(theirs.vector, mine.vector, clock.next())
    }

    private static func localWins(_ mine: Name, _ theirs: Name, _ clock: inout LiteClock) -> Name {
        guard areLegacy(mine, theirs) else {
            return .vector(.trivialMerge(winner: mine.vector, loser: theirs.vector))
        }
        guard !mine.isLegacy || !theirs.isLegacy else { return .vector(mine.vector) }
        var vector = LiteVector(theirs.vector.current)
        vector.add(clock.next())
        return .vector(vector)
    }

    private static func remoteWins(_ mine: Name, _ theirs: Name) -> Name {
        guard mine.isLegacy || theirs.isLegacy else {
            return .vector(.trivialMerge(winner: theirs.vector, loser: mine.vector))
        }
        return mine.isLegacy ? theirs : .vector(theirs.vector)
    }
}
