internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// Where a pushed revision goes in the tree of its document.
///
///     2-b, history 1-a              as it says: 1-a ─ 2-b
///     4-b, history 1-a              1-a ─ 2-b ─ 3-b ─ 4-b: what was between is not known to the device any more
///     a version of a device         a child of the winner if it has seen the state here, else a branch
struct PushedPlace {
    /// The revision under the name that it has here, and its ancestors.
    let history: RevisionHistory
    /// The other leaves that the revision has merged, and their ancestors.
    private(set) var merged: [RevisionHistory] = []

    /// Finds the place.
    ///
    /// - Throws: ``BLIPError`` with status 409 for a version that has not seen the state here, where the client wants no
    ///   branches; with status 400 for names that are neither versions nor ids that count down, and for a version
    ///   from the future; ``DatabaseError``.
    init(
        _ name: String, history: String, of id: DocumentID, in database: Database, isExclusive: Bool,
        after seen: RevisionHistory? = nil
    ) throws {
        guard name.utf8.contains(UInt8(ascii: "@")) else {
            guard let path = RevisionHistory(name, history: history) ?? Self.bridged(name, history) else {
                throw Self.malformed(id, name)
            }
            self.history = path
            return
        }
        let tree = try database.tree(of: id)
        guard let vector = VersionVector(name, history: history), let place = vector.place(in: tree) else {
            throw Self.malformed(id, name)
        }
        guard vector.current?.isFrom(after: WallTime.now().seconds) != true else {
            throw BLIPError.http(
                400, "the version \(name) of \"\(id)\" is from the future: look at the clock of the device")
        }
        switch place {
        case .known(let known): self.history = tree?.history(of: known) ?? RevisionHistory(known)
        case .branch(let branch):
            // The device has named the winner in its proposal.
            if let seen, let signature = vector.current?.signature,
                let revision = RevisionID(generation: seen.start + 1, signature: signature),
                let next = RevisionHistory([revision] + seen.revisions)
            {
                self.history = next
                return
            }
            let beginsAnew = tree.map { $0.isDeleted && !$0.revisions.contains(where: vector.hasSeen) } ?? true
            guard !isExclusive || beginsAnew else { throw BLIPError.http(409, "the document was changed meanwhile") }
            self.history = branch
        case .next(let next):
            self.history = next
            let others = (tree?.leaves ?? []).filter { !$0.isDeleted && !next.revisions.contains($0.revision) }
            merged = others.map(\.revision).filter(vector.hasSeen).compactMap { tree?.history(of: $0) }
        }
    }

    /// The maximum number of ids that are made for a history.
    private static let mostMade = 1000

    /// A history that leaves out generations. A tree that was opened with version vectors knows of several unsent edits only the
    /// last one and the server's id, and a tree with more unsent edits than a message may name leaves out the oldest ones. The ids
    /// in between are made of the signature of the one before.
    private static func bridged(_ name: String, _ history: String) -> RevisionHistory? {
        let names = [name] + history.split(separator: ",").map { String($0).trimmingBlanks() }
        let known = names.compactMap { RevisionID($0) }
        guard known.count == names.count, var last = known.first else { return nil }
        var (path, made) = ([last], 0)
        for next in known.dropFirst() {
            guard next.generation < last.generation else { return nil }
            while last.generation > next.generation + 1 {
                guard made < mostMade, let id = RevisionID(generation: last.generation - 1, signature: last.signature)
                else { return nil }
                path.append(id)
                (last, made) = (id, made + 1)
            }
            path.append(next)
            last = next
        }
        return RevisionHistory(path)
    }

    private static func malformed(_ id: DocumentID, _ name: String) -> BLIPError {
        .http(400, "the history of \"\(id)\" at \(name) is no version vector, and does not count down")
    }
}
