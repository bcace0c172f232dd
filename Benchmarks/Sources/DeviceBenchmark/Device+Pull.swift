import SettleCore

extension Device {
    /// Pulls until it is disconnected: catches up, then waits for changes. After a failure it starts from the checkpoint.
    func follow() async {
        var failures = 0
        while fleet.isConnected {
            do {
                try await fleet.whileSyncing { try await catchUp() }
                failures = 0
                while true { try await waitForChanges() }
            } catch {
                isWaiting = false
                connection.close()
                fleet.statistics.add(error)
                failures += 1
                await backOff(failures)
            }
        }
    }

    private func catchUp() async throws {
        since = try await read(pulled, connection) ?? "0"
        await think()
        try await take(changes(.changes, ""))
    }

    private func waitForChanges() async throws {
        isWaiting = true
        let began = Moment.now
        let feed = "&feed=longpoll&heartbeat=\(Int(fleet.options.heartbeat * 1000))"
        let page = try await changes(.longPoll, feed)
        let revisions = page.rows.flatMap(\.revisions)
        if let delay = group.delay(of: revisions, after: began) { fleet.statistics.addWakeUp(seconds: delay) }
        guard !revisions.isEmpty else { return }
        isWaiting = false
        try await fleet.whileSyncing {
            await think()
            try await take(page)
        }
    }

    private func changes(_ kind: RequestKind, _ feed: String) async throws -> ChangesPage {
        let path = "\(group.path)/_changes?style=all_docs&since=\(since)\(feed)"
        return ChangesPage(try await ask(kind, connection, "GET", path))
    }

    /// Gets the revisions of some changes that the replica lacks, and notes in the checkpoint how far it has come.
    private func take(_ page: ChangesPage) async throws {
        let missing = page.rows.flatMap { row in
            row.revisions.filter { replica[row.id]?.knows($0) != true }
                .map { #"{"id":"\#(row.id)","rev":"\#($0)"}"# }
        }
        if !missing.isEmpty {
            let body = #"{"docs":[\#(missing.joined(separator: ","))]}"#
            fleet.statistics.addItems(.bulkGet, missing.count)
            let path = "\(group.path)/_bulk_get?revs=true&latest=true"
            store(try await ask(.bulkGet, connection, "POST", path, body))
            await think()
        }
        since = page.last
        try await write(pulled, connection)
    }

    private func store(_ answer: JSONValue?) {
        for document in (answer?["results"]?.array ?? []).flatMap({ $0["docs"]?.array ?? [] }) {
            guard let document = document["ok"], let id = document["_id"]?.string else {
                fleet.statistics.addWrongContent()
                continue
            }
            let start = document["_revisions"]?["start"]?.int ?? 0
            let history = (document["_revisions"]?["ids"]?.array ?? []).enumerated().compactMap { index, digits in
                Revision(generation: start - index, digits: (digits.string ?? "")[...])
            }
            guard let revision = history.first, Content.isRight(document, of: revision) else {
                fleet.statistics.addWrongContent()
                continue
            }
            replica[id, default: LeafTree()].insert(history, isDeleted: document["_deleted"]?.bool == true)
        }
    }
}

/// An answer to `_changes`.
struct ChangesPage {
    let rows: [(id: String, revisions: [Revision])]
    /// The sequence that it reaches.
    let last: String

    init(_ json: JSONValue?) {
        rows = (json?["results"]?.array ?? []).map { row in
            let revisions = (row["changes"]?.array ?? []).compactMap { $0["rev"]?.string.flatMap(Revision.init) }
            return (row["id"]?.string ?? "", revisions)
        }
        last = json?["last_seq"]?.string ?? json?["last_seq"]?.number?.text ?? "0"
    }
}
