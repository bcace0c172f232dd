import SettleCore

extension Device {
    /// Edits some documents, and pushes them on a connection of its own until the server has them.
    func editAndPush() async {
        await think()
        for _ in 0..<Int.random(in: 1...3, using: &random) { edit() }
        let connection = Connection(fleet.server)
        var failures = 0
        while !unpushed.isEmpty {
            do {
                try await push(connection)
            } catch {
                connection.close()
                fleet.statistics.add(error)
                failures += 1
                await backOff(failures)
            }
        }
        connection.close()
        fleet.statistics.addPush()
    }

    /// Writes one document, merging it if it is in conflict: the winner gets a child, the others are deleted.
    ///
    /// The first documents are edited most, so that devices meet.
    private func edit() {
        let place = random.fraction() * random.fraction() * Double(group.documents.count)
        let id = group.documents[Int(place)]
        guard let tree = replica[id], let winner = tree.winner else { return }
        append(to: winner, of: id, isDeleted: random.fraction() < 0.05)
        let losers = tree.living.dropFirst()
        for loser in losers { append(to: loser, of: id, isDeleted: true) }
        fleet.statistics.addEdit(merged: losers.count)
    }

    private func append(to parent: Revision, of id: String, isDeleted: Bool) {
        revisions += 1
        let content = Content(device: number, edit: revisions, size: fleet.options.size)
        let revision = content.revision(generation: parent.generation + 1)
        replica[id, default: LeafTree()].insert([revision, parent], isDeleted: isDeleted)
        group.note(revision, of: id)
        unpushed.append(LocalEdit(id: id, revision: revision, content: content))
    }

    private func push(_ connection: Connection) async throws {
        _ = try await read(pushed, connection)
        await think()
        let attempt = unpushed
        let revisions = attempt.map(\.revision)
        fleet.statistics.addItems(.revsDiff, attempt.count)
        let asked = Dictionary(grouping: attempt, by: \.id).map { id, edits in
            #""\#(id)":[\#(edits.map { #""\#($0.revision)""# }.joined(separator: ","))]"#
        }
        let answer = try await ask(
            .revsDiff, connection, "POST", "\(group.path)/_revs_diff", "{\(asked.joined(separator: ","))}")
        let missing = Set((answer?.object ?? [:]).flatMap { $0.value["missing"]?.array ?? [] }.compactMap(\.string))
        await think()
        let documents = attempt.filter { missing.contains($0.revision.description) }.map(document(of:))
        if !documents.isEmpty {
            let body = #"{"new_edits":false,"docs":[\#(documents.joined(separator: ","))]}"#
            group.noteSending(revisions)
            fleet.statistics.addItems(.bulkDocs, documents.count)
            do {
                let answer = try await ask(.bulkDocs, connection, "POST", "\(group.path)/_bulk_docs", body)
                guard answer?.array?.isEmpty != false else { throw Refusal(kind: .bulkDocs, status: 201) }
            } catch {
                group.forgetSending(revisions)
                throw error
            }
            await think()
        }
        try await write(pushed, connection)
        unpushed.removeFirst(attempt.count)
    }

    private func document(of edit: LocalEdit) -> String {
        let tree = replica[edit.id] ?? LeafTree()
        return edit.content.document(
            edit.id, tree.history(of: edit.revision), isDeleted: tree.isDeleted(edit.revision))
    }
}

/// What a device has written and the server may not have.
struct LocalEdit {
    let id: String
    let revision: Revision
    let content: Content
}
