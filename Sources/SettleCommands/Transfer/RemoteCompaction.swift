internal import Settle

/// Compacts a database at a server, and waits until it is done.
struct RemoteCompaction {
    let remote: Client
    let console: Console
    private static let pause = Duration.milliseconds(200)

    /// Starts the compaction.
    ///
    /// - Parameter waits: Whether to wait; Ctrl-C ends only the waiting.
    /// - Returns: The exit status.
    /// - Throws: ``CommandError``.
    func run(waits: Bool) throws -> ExitStatus {
        let before = try size()
        try remote.json("POST", "_compact", body: .object(JSONObject()))
        let bar = ProgressBar(console)
        guard waits else {
            try console.print("\(remote.url) is being compacted", json: ["ok": true])
            return .success
        }
        defer { bar.finish() }
        while try remote.info()["compact_running"] == true {
            let share = try share()
            bar.update("Compacting", fraction: share, share == nil ? "queued" : "")
            try Waiting.wait { try await Task.sleep(for: Self.pause) }
            try Interruption.check()
        }
        bar.finish()
        let bytes = try size() - before
        if console.isJSON {
            try console.print(JSON.object(["ok": true, "bytes": .number(JSONNumber(-bytes))]).description)
        } else {
            let size = bytes > 0 ? "\(Quantity.bytes(bytes)) larger" : "\(Quantity.bytes(-bytes)) smaller"
            try console.note("Compacted in \(Quantity.duration(bar.elapsed)); the database is \(size)")
        }
        return .success
    }

    private func size() throws -> Int64 { Int64(try remote.info()["sizes"]?["file"]?.int ?? 0) }

    /// The completed share; `nil` if the server does not report it to this user. A cluster has a task for each shard.
    private func share() throws -> Double? {
        let name = remote.url.databaseName ?? ""
        let tasks: JSON
        do { tasks = try remote.serverJSON("_active_tasks") } catch let error as CommandError
            where error.status == .refused
        {
            return nil
        }
        let mine = (tasks.array ?? []).filter { task in
            let database = task["database"]?.string ?? ""
            return task["type"] == "database_compaction" && (database == name || database.contains("/\(name)."))
        }
        let shares = mine.compactMap { $0["progress"]?.int }
        return shares.isEmpty ? nil : Double(shares.reduce(0, +)) / Double(100 * shares.count)
    }
}

extension Client {
    /// Sends a request to the database's server.
    func serverJSON(_ path: HTTPPath) throws -> JSON {
        try wait { connection, _ in try await connection.server.json("GET", path).json }
    }
}
