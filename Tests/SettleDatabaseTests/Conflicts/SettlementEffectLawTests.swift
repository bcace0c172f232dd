import Settle
import SettleCore
import SettleDatabase
import SettleTesting
import Testing

/// Nothing is lost silently, and nothing that is in the result is called lost: over random forests, policies and picks.
@Suite struct SettlementEffectLawTests {
    private static let policies: [ConflictPolicy] = [
        .mostRevisions, .deletesWin, .localWins, .remoteWins, .threeWayMerge(), .threeWayMerge(deletionsWin: true),
        .latestAttributeWins, .latestDocumentWins, .custom("delete", deletions: true) { _ in .delete },
        .cloudant { $1.last },
    ]

    /// The document that a decision leaves; `nil` if it deletes the document.
    private func result(_ preview: SettlementPreview) throws -> JSONObject? {
        switch try #require(preview.decision).resolution {
        case .merged(let body, _): return body.json.object
        case .keep(let revision):
            return preview.conflict.leaf(revision).flatMap { $0.isDeleted ? nil : $0.json.object }
        case .document(let document): return document.isDeleted ? nil : document.json.object
        case .delete: return nil
        case .leaveConflicted:
            Issue.record("the conflict is left")
            return nil
        }
    }

    @Test(arguments: 0..<80)
    func `losses are empty exactly if every change of every leaf is in the result`(seed: Int) throws {
        var world = RandomConflict(seed: UInt64(seed))
        for policy in Self.policies {
            try withTemporaryDatabase(.memory) { database in
                try world.store(in: database, leaves: 2 + seed % 5, hasDeletion: seed % 3 == 0)
                let conflict = try #require(try database.conflict(of: "d"))
                let picks = world.picks(for: conflict)
                let isPicking = seed % 2 == 0 && conflict.deletions.isEmpty && policy.name != "delete"
                let picking = isPicking ? policy.laying(picks) : policy
                guard let preview = try database.preview("d", using: picking) else { return }
                let effect = SettlementEffect(preview)
                let result = try result(preview)
                let name = "seed \(seed), \(policy.name), picks \(isPicking)"
                try check(effect, preview.conflict, result, name)
                // What is shown is what is written.
                try database.settle("d", using: picking)
                let stored = try database.document("d")?.json.object
                for row in effect.rows { #expect(row.result == stored?.value(at: row.path), "\(name), \(row.path)") }
            }
        }
    }

    private func check(
        _ effect: SettlementEffect, _ conflict: Conflict, _ result: JSONObject?, _ name: String
    ) throws {
        let base = Flat(try #require(conflict.base?.json.object))
        let after = Flat(result ?? JSONObject(), isThere: result != nil)
        for leaf in conflict.liveLeaves {
            let own = Flat(leaf.json.object ?? JSONObject())
            let isLost = own.changes(from: base).contains { own[$0] != after[$0] }
            let told = effect.losses.filter { $0.leaf == leaf.revision && $0.kind != .document }
            #expect(told.isEmpty == !isLost, "\(name): \(leaf.json) on \(conflict.base?.json ?? .null)")
            for loss in told where loss.kind == .value {
                #expect(leaf.json.object?.value(at: loss.path) == loss.value, "\(name)")
                #expect(result?.value(at: loss.path) != loss.value, "\(name), \(loss.path)")
            }
            for loss in told where loss.kind == .removal {
                #expect(leaf.json.object?.value(at: loss.path) == nil, "\(name)")
                #expect(result?.value(at: loss.path) != nil, "\(name), \(loss.path)")
            }
        }
        #expect((effect.outcome == .deletes) == (result == nil), "\(name)")
        #expect(effect.losses.contains { $0.kind == .document } == (result == nil), "\(name)")
        let overruled = effect.losses.filter { $0.kind == .deletion }.map(\.leaf)
        #expect(overruled == (result == nil ? [] : conflict.deletions.compactMap(\.revision)), "\(name)")
        let paths = effect.rows.map(\.path)
        // The clocks of attributes follow from the values, and have no rows.
        for path in after.changes(from: base) where result != nil && !path.hasPrefix("/\(ClockedDocument.memberName)") {
            let isTold = paths.contains { path == $0 || path.hasPrefix($0 + "/") || $0.hasPrefix(path + "/") }
            #expect(isTold, "\(name): \(path) has no row")
        }
        #expect(effect.rowCount == effect.rows.count && effect.lossCount == effect.losses.count)
    }

    @Test(arguments: 0..<120)
    func `rules that join values lose none, and where one does not fit what it leaves out is lost`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let base: [String] = (0..<9).map { "line \($0)" }
        func body(_ number: Int, _ tags: [Int], _ lines: [String]) -> DocumentBody {
            [
                "n": .number(JSONNumber(number)), "tags": .array(tags.map { .number(JSONNumber($0)) }),
                "text": .string(lines.joined(separator: "\n") + "\n"),
            ]
        }
        try withTemporaryDatabase(.memory) { database in
            try database.insertReplicated([peer("d", path("1-1"), body(10, [1, 2, 3], base))])
            for leaf in 0..<(2 + seed % 4) {
                var lines = base
                if random.oneIn(2) { lines[random.below(lines.count)] = "leaf \(leaf)" }
                let tags = [1, 2, 3].filter { _ in !random.oneIn(3) } + (random.oneIn(2) ? [10 + leaf] : [])
                let number = 10 + (random.oneIn(3) ? 0 : 1 + random.below(3))
                try database.insertReplicated([peer("d", path("2-\(leaf)", "1"), body(number, tags, lines))])
            }
            let rules = MergeRules(attributes: ["/n": .sum, "/tags": .union, "/text": .lines])
            let policy = ConflictPolicy.threeWayMerge(rules)
            let preview = try #require(try database.preview("d", using: policy))
            let effect = SettlementEffect(preview)
            let result = try #require(try result(preview))
            #expect(effect.losses.allSatisfy { $0.path == "/text" }, "seed \(seed): \(effect.losses)")
            let after = Set((result["text"]?.string ?? "").split(separator: "\n").map(String.init))
            for leaf in preview.conflict.liveLeaves {
                let own = Set((leaf["text"]?.string ?? "").split(separator: "\n").map(String.init))
                let isIn =
                    own.subtracting(base).isSubset(of: after)
                    && Set(base).subtracting(own).isDisjoint(with: after)
                let isLost = effect.losses.contains { $0.leaf == leaf.revision }
                #expect(isLost == !isIn, "seed \(seed), \(leaf.json)")
            }
        }
    }

    @Test(arguments: 0..<120)
    func `in a tree of branches a value that was replaced knowingly is not lost, and every other one is`(
        seed: Int
    ) throws {
        for policy in [ConflictPolicy.threeWayMerge(), .mostRevisions, .cloudant { $1.last }] {
            var tree = RandomBranches(seed: UInt64(seed))
            try withTemporaryDatabase(.memory) { database in
                try tree.store(in: database)
                let preview = try #require(try database.preview("d", using: policy))
                let result = try #require(try result(preview))
                let losses = SettlementEffect(preview).losses
                let base = try #require(preview.conflict.base)
                for leaf in preview.conflict.liveLeaves {
                    let revision = try #require(leaf.revision)
                    for name in RandomBranches.names where leaf[name] != base[name] {
                        let isIn =
                            leaf[name] == result[name]
                            || preview.conflict.liveLeaves.contains { other in
                                other[name] == result[name] && tree.hasReplaced(other.revision, revision, name)
                            }
                        let isLost = losses.contains { $0.leaf == revision && $0.path == "/\(name)" }
                        #expect(isLost == !isIn, "seed \(seed), \(policy.name), \(revision) \(name)")
                    }
                }
            }
        }
    }
}

// MARK: - Flat

/// A document as its values by their paths, and a mark at the path of each object.
private struct Flat {
    private var values: [String: JSONValue] = [:]

    init(_ members: JSONObject, isThere: Bool = true) {
        if isThere { add(members, at: "") }
    }

    private mutating func add(_ members: JSONObject, at path: String) {
        for member in members {
            let place = "\(path)/\(member.name)"
            if let inner = member.value.object {
                values[place] = "an object"
                add(inner, at: place)
            } else {
                values[place] = member.value
            }
        }
    }

    subscript(path: String) -> JSONValue? { values[path] }

    /// The paths at which this differs from another document.
    func changes(from base: Flat) -> [String] {
        Set(values.keys).union(base.values.keys).filter { values[$0] != base.values[$0] }.sorted()
    }
}

// MARK: - RandomConflict

/// Random leaves on one base, with members of all kinds, and random picks.
private struct RandomConflict {
    private var random: SeededRandom
    private static let names = ["a", "b", "c", "e"]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func store(in database: Database, leaves: Int, hasDeletion: Bool) throws {
        let base = object(depth: 0)
        try database.insertReplicated([peer("d", path("1-1"), try DocumentBody(.object(base)))])
        for leaf in 0..<leaves {
            let body = try DocumentBody(.object(edited(base)))
            try database.insertReplicated([peer("d", path("2-\(leaf)", "1"), body)])
        }
        if hasDeletion { try database.insertReplicated([peer("d", path("2-t", "1"), isDeleted: true)]) }
    }

    mutating func picks(for conflict: Conflict) -> [MemberPick] {
        let leaves = conflict.liveLeaves.compactMap(\.revision)
        return Self.names.filter { _ in random.oneIn(4) }.compactMap { name in
            switch random.below(4) {
            case 0: MemberPick("/\(name)", .base)
            case 1: MemberPick("/\(name)", .removed)
            case 2: MemberPick("/\(name)", .value(scalar()))
            default: random.pick(leaves).map { MemberPick("/\(name)", .leaf($0)) }
            }
        }
    }

    private mutating func scalar() -> JSONValue { .number(JSONNumber(random.below(6))) }

    private mutating func value(depth: Int) -> JSONValue {
        switch random.below(depth < 2 ? 5 : 3) {
        case 0: .array([scalar(), scalar()])
        case 1, 2: scalar()
        default: .object(object(depth: depth + 1))
        }
    }

    private mutating func object(depth: Int) -> JSONObject {
        var members = JSONObject()
        for name in Self.names where !random.oneIn(3) { members[name] = value(depth: depth) }
        // A mark, so that no object is empty: an empty one may come to be by removals alone.
        members["mark"] = "object"
        return members
    }

    private mutating func edited(_ before: JSONObject, depth: Int = 0) -> JSONObject {
        var members = before
        for name in Self.names where random.oneIn(2) {
            if let inner = before[name]?.object, random.oneIn(2) {
                members[name] = .object(edited(inner, depth: depth + 1))
            } else {
                members[name] = random.oneIn(3) ? nil : value(depth: depth)
            }
        }
        return members
    }
}

// MARK: - RandomBranches

/// A random tree of edits, each of one or two members, whose values are all different.
private struct RandomBranches {
    static let names = ["a", "b", "c"]

    private struct Node {
        let name: String
        let parent: Int?
        var members: JSONObject
        /// The node that wrote each member.
        var writers: [String: Int]
    }

    private var random: SeededRandom
    private var nodes: [Node] = []
    private var next = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Stores the tree: a root, and nodes of which at least two have no children.
    mutating func store(in database: Database) throws {
        add(on: nil)
        add(on: 0)
        add(on: 0)
        for _ in 0..<(2 + random.below(6)) { add(on: random.below(nodes.count)) }
        for index in nodes.indices {
            let names = way(to: index).map { nodes[$0].name }
            let signatures = try names.map { try RevisionID(validating: "1-\($0)").signature }
            let history = try RevisionHistory(start: UInt64(names.count), signatures: signatures)
            try database.insertReplicated([peer("d", history, try DocumentBody(.object(nodes[index].members)))])
        }
    }

    private mutating func add(on parent: Int?) {
        let index = nodes.count
        var node = Node(
            name: "\(random.below(9))x\(index)", parent: parent,
            members: parent.map { nodes[$0].members } ?? JSONObject(),
            writers: parent.map { nodes[$0].writers } ?? [:])
        for name in Self.names where parent == nil || random.oneIn(2) {
            next += 1
            node.members[name] = .number(JSONNumber(next))
            node.writers[name] = index
        }
        nodes.append(node)
    }

    /// A node and its ancestors.
    private func way(to index: Int) -> [Int] {
        var way = [index]
        while let last = way.last, let parent = nodes[last].parent { way.append(parent) }
        return way
    }

    private func node(_ revision: RevisionID?) -> Int? {
        nodes.indices.first { index in
            revision.map { "\(way(to: index).count)-\(nodes[index].name)" == $0.description } ?? false
        }
    }

    /// Whether a leaf's value of a member was written on top of another leaf's value.
    func hasReplaced(_ leaf: RevisionID?, _ other: RevisionID, _ name: String) -> Bool {
        guard let leaf = node(leaf), let other = node(other), let newer = nodes[leaf].writers[name],
            let older = nodes[other].writers[name]
        else { return false }
        return newer != older && way(to: newer).contains(older)
    }
}
