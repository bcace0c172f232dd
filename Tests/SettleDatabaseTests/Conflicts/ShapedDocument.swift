import Settle
import SettleDatabase

/// A document's tree of one to four leaves, described without any tree code, and each policy's expected result.
struct ShapedDocument: Sendable, CustomStringConvertible {
    /// The kind of a leaf, and how it hangs on its branch point.
    enum Leaf: String, CaseIterable, Sendable {
        /// One edit.
        case live
        /// Two edits.
        case edited
        /// A tombstone right on the branch point: a user's deletion (K2 ii).
        case deleted
        /// A tombstone after an edit that was the source's winner: a user's deletion (K2 i).
        case confirmed
        /// A tombstone after an edit, without further knowledge: closed by a foreign peer (K2 iii).
        case foreign
        /// A tombstone after an edit, with the mark.
        case closed

        var isLive: Bool { self == .live || self == .edited }
    }

    /// How the branches part: a leaf's number, or a branch point with what hangs on it.
    indirect enum Branch: Sendable {
        case leaf(Int)
        case point([Branch])

        /// The numbers of the leaves below.
        var leaves: [Int] {
            switch self {
            case .leaf(let number): [number]
            case .point(let branches): branches.flatMap(\.leaves)
            }
        }
    }

    /// All ways in which up to four branches part.
    static let topologies: [Int: [Branch]] = {
        func l(_ number: Int) -> Branch { .leaf(number) }
        return [
            1: [.point([l(0)])], 2: [.point([l(0), l(1)])],
            3: [.point([l(0), l(1), l(2)]), .point([.point([l(0), l(1)]), l(2)])],
            4: [
                .point([l(0), l(1), l(2), l(3)]), .point([.point([l(0), l(1)]), l(2), l(3)]),
                .point([.point([l(0), l(1), l(2)]), l(3)]), .point([.point([l(0), l(1)]), .point([l(2), l(3)])]),
                .point([.point([.point([l(0), l(1)]), l(2)]), l(3)]),
            ],
        ]
    }()

    let topology: Branch
    let states: [Leaf]
    let description: String

    init(_ topology: Branch, _ states: [Leaf]) {
        self.topology = topology
        self.states = states
        description = "\(topology) \(states.map(\.rawValue))"
    }

    /// A leaf as it was stored.
    struct Stored {
        let number: Int
        let state: Leaf
        let revision: RevisionID
        /// The leaves below the branch point it hangs on.
        let family: [Int]
    }

    /// Stores the document, branch by branch, and returns its leaves.
    func store(_ id: DocumentID, in database: Database) throws -> [Stored] {
        var stored: [Stored] = []
        try insert(topology, "root", [], ["base": true], id, database, &stored)
        return stored
    }

    private func insert(
        _ branch: Branch, _ name: String, _ path: [String], _ members: JSONObject, _ id: DocumentID,
        _ database: Database, _ stored: inout [Stored]
    ) throws {
        guard case .point(let branches) = branch else { return }
        let point = path + [name]
        try insert(point, members, id, database)
        for (index, child) in branches.enumerated() {
            guard case .leaf(let number) = child else {
                var inner = members
                inner["\(name)\(index)"] = true
                try insert(child, "\(name)\(index)", point, inner, id, database, &stored)
                continue
            }
            let state = states[number]
            let steps = state == .live || state == .deleted ? ["leaf\(number)"] : ["edit\(number)", "leaf\(number)"]
            var body = JSONObject()
            if state.isLive {
                body = members
                body["leaf\(number)"] = true
            } else if state == .closed {
                body = ["$closed": "1-root"]
            }
            try insert(
                point + steps, body, id, database, isDeleted: !state.isLive, isConfirmed: state == .confirmed)
            stored.append(
                Stored(
                    number: number, state: state, revision: try revision(point + steps), family: branch.leaves))
        }
    }

    private func insert(
        _ path: [String], _ members: JSONObject, _ id: DocumentID, _ database: Database, isDeleted: Bool = false,
        isConfirmed: Bool = false
    ) throws {
        let signatures = try path.reversed().map { try RevisionID(validating: "1-\($0)").signature }
        var replicated = ReplicatedRevision(
            id: id, history: try RevisionHistory(start: UInt64(path.count), signatures: signatures),
            isDeleted: isDeleted, body: try DocumentBody(.object(members)))
        replicated.isDeletionAtSource = isConfirmed
        try database.insertReplicated([replicated])
    }

    private func revision(_ path: [String]) throws -> RevisionID {
        try RevisionID(validating: "\(path.count)-\(path.last ?? "")")
    }
}

extension ShapedDocument {
    /// The leaves to decide between, live ones first, each kind from the highest id down.
    static func candidates(_ stored: [Stored], deletions: Bool) -> [Stored] {
        let live = stored.filter(\.state.isLive).sorted { $0.revision > $1.revision }
        let disputed = stored.filter { leaf in
            switch leaf.state {
            case .confirmed: !live.isEmpty
            case .deleted: live.contains { leaf.family.contains($0.number) }
            default: false
            }
        }
        return live + (deletions ? disputed.sorted { $0.revision > $1.revision } : [])
    }
}
