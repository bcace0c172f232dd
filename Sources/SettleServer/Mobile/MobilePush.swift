internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// A client's push: the client proposes changes, the server answers which ones it needs, and the client sends those
/// revisions.
///
/// A revision keeps the id that the client gave it. If the client wants no conflicts, as clients of Sync Gateway
/// do, a revision that would branch is refused with 409: the client then pulls the current revision, settles, and
/// pushes a child of it.
struct MobilePush {
    let context: RequestContext
    /// Called for each accepted revision from a database that was opened with version vectors but still names the
    /// revision by a revision id. Returns false if there is no room for it.
    var accepted: (UpgradedEdits.Edit, DocumentVersion) -> Bool = { _, _ in false }
    /// Called for each proposed revision with an id of a tree that is here.
    var known: (UpgradedEdits.Edit) -> Void = { _ in }
    /// Called for each document whose proposed revision is refused with 409.
    var refused: (DocumentID) -> Void = { _ in }

    private static let maximumRows = 10_000
    /// Asks for blobs as members only; their contents are requested separately.
    private static let wishes = ["blobs": "true"]

    /// `proposeChanges`: answers `[[docID, revID, serverRevID?, …], …]` with a status each: 0 to send it, 304 if it
    /// is stored, 409 if the server has another revision. Trailing zeros are left out.
    func proposed(_ message: BLIPMessage) throws -> BLIPMessage {
        let database = try context.database()
        let tellsRevision = message.flag("conflictIncludesRev")
        var answers = try rows(message).map { row -> JSONValue in
            guard let text = row[0]?.string, let id = try? WireDocument.checked(text), !id.isLocal else { return 400 }
            guard let name = row[1]?.string else { return 400 }
            guard !name.utf8.contains(UInt8(ascii: "@")) else {
                let known = row[2]?.string ?? ""
                let answer = try answer(name, known: known, of: id, database, tellsRevision)
                // If an upgraded database has merged two revision ids, it may not have seen the server's.
                if answer == 0, let version = DocumentVersion(known), version.source == .tree {
                    _ = accepted(UpgradedEdits.Edit(id: id, name: name), version)
                }
                return answer
            }
            guard let revision = RevisionID(name) else { return 400 }
            guard let tree = try database.tree(of: id), let winner = tree.winner else { return 0 }
            guard tree[revision] == nil else {
                known(UpgradedEdits.Edit(id: id, name: name))
                return 304
            }
            let known = row[2]?.string ?? ""
            if known == winner.revision.description || known.isEmpty && winner.isDeleted { return 0 }
            if let version = DocumentVersion(known), UpgradedEdits.isState(version, of: tree),
                accepted(UpgradedEdits.Edit(id: id, name: name), version)
            {
                return 0
            }
            refused(id)
            return tellsRevision ? ["status": 409, "rev": .string(winner.revision.description)] : 409
        }
        while answers.last == 0 { answers.removeLast() }
        return BLIPMessage(.reply, properties: Self.wishes, body: JSONValue.array(answers).utf8)
    }

    /// The answer to a proposed version. The proposal may include the version's history; otherwise `known` is the
    /// server's version that the device knows.
    private func answer(
        _ name: String, known: String, of id: DocumentID, _ database: Database, _ tellsRevision: Bool
    ) throws -> JSONValue {
        guard let tree = try database.tree(of: id), let state = VersionVector(tree) else { return 0 }
        guard let vector = VersionVector(name, history: known), let place = vector.place(in: tree) else { return 400 }
        switch place {
        case .known: return 304
        case .next: return 0
        // The device has not seen the deletion of the document.
        case .branch where known.isEmpty && tree.isDeleted: return 0
        case .branch:
            refused(id)
            return tellsRevision ? ["status": 409, "rev": .string(state.text)] : 409
        }
    }

    /// `changes` of a client that allows branches: answers `[[sequence, docID, revID, …], …]` with 0 for a stored
    /// revision, and otherwise with the stored ancestors.
    func changed(_ message: BLIPMessage) throws -> BLIPMessage {
        let database = try context.database()
        let answers = try rows(message).map { row -> JSONValue in
            guard let text = row[1]?.string, let id = try? WireDocument.checked(text), !id.isLocal,
                let name = row[2]?.string, let vector = VersionVector(name)
            else { return 0 }
            guard let tree = try database.tree(of: id) else { return [] }
            if case .known = vector.place(in: tree) { return 0 }
            guard let revision = RevisionID(name) else { return [] }
            let known = tree.leaves.map(\.revision).filter { $0.generation < revision.generation }
            return .array(known.map { .string($0.description) })
        }
        return BLIPMessage(.reply, properties: Self.wishes, body: JSONValue.array(answers).utf8)
    }

    private func rows(_ message: BLIPMessage) throws -> [JSONValue] {
        guard !message.body.isEmpty else { return [] }
        guard let rows = try RequestLimits.value(message.body).array, rows.count <= Self.maximumRows else {
            throw BLIPError.http(400, "the body must be a list of at most \(Self.maximumRows) changes")
        }
        return rows
    }

    /// `rev`: stores revisions in one transaction, and those that must not branch in another. If one of them can't
    /// be stored at all, each is stored separately, so that only that one is answered with the error.
    ///
    /// - Returns: The answers, in the order of the revisions.
    func store(_ revisions: [PushedRevision]) -> [BLIPMessage] {
        var answers = [BLIPMessage](repeating: BLIPMessage(.reply), count: revisions.count)
        for isExclusive in [true, false] {
            let places = revisions.indices.filter { revisions[$0].isExclusive == isExclusive }
            let errors = store(places.map { revisions[$0] }, refusingBranches: isExclusive)
            for (place, error) in zip(places, errors) {
                var error = error
                if error != nil, isExclusive, beginsAnew(revisions[place]) {
                    error = store([revisions[place]], refusingBranches: false)[0]
                }
                if let error { answers[place] = .failure(MobileSession.blipError(for: error)) }
            }
        }
        return answers
    }

    /// Whether a revision recreates a document that was deleted here. A device never sees the deletion if it pulled
    /// for the first time after it.
    private func beginsAnew(_ revision: PushedRevision) -> Bool {
        guard let tree = try? context.database().tree(of: revision.id), tree.isDeleted else { return false }
        return !revision.history.revisions.contains(where: tree.contains)
    }

    private func store(_ revisions: [PushedRevision], refusingBranches: Bool) -> [(any Error)?] {
        guard !revisions.isEmpty else { return [] }
        do {
            let writer = try DocumentWriter(context.database(), context)
            // A device sees only the winner, so it can't settle other open leaves.
            let refused = try writer.insert(
                revisions.flatMap { try $0.all() }, refusingBranches: refusingBranches, leavingConflicts: true)
            context.metrics.wroteDocuments(revisions.count - refused.count)
            return revisions.map { revision in
                refused.first { $0.id == revision.id && $0.revision == revision.history.revision.description }?.error
            }
        } catch {
            guard revisions.count > 1 else { return [error] }
            return revisions.flatMap { store([$0], refusingBranches: refusingBranches) }
        }
    }
}
