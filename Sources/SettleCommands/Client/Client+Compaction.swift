internal import Settle
import SettleReplication

/// Compaction of the database.
extension Client {
    /// Has a server compact the database, which answers before it begins.
    func startCompaction() throws { try json("POST", "_compact", body: .object(JSONObject())) }

    /// Compacts the database and waits until that is done.
    ///
    /// A folder is compacted by a call, not by a request: `_compact` tells neither what was removed nor why it failed.
    ///
    /// - Parameter bar: Shows how far it is. Ctrl-C ends a folder's compaction, which keeps what it has done; at a server it
    ///   ends the waiting alone.
    /// - Returns: How many bytes smaller the database is, and what was removed, where that is known.
    /// - Throws: ``CommandError``, ``DatabaseError`` of a folder.
    func compact(_ bar: ProgressBar) throws -> (bytes: Int64, removed: CompactionResult?) {
        if let database {
            let result = try bar.watch("Compacting") { try database.compact(progress: $0) }
            return (result.bytes, result)
        }
        let before = try fileSize()
        try startCompaction()
        defer { bar.finish() }
        while try info()["compact_running"] == true {
            let share = try compactionShare()
            bar.update("Compacting", fraction: share, share == nil ? "waits for its turn" : "")
            try Waiting.wait { try await Task.sleep(for: .milliseconds(200)) }
            try Interruption.check()
        }
        return (before - (try fileSize()), nil)
    }

    private func fileSize() throws -> Int64 { Int64(try info()["sizes"]?["file"]?.int ?? 0) }

    /// How much of it is done; `nil` when the server does not tell, or tells others only. A cluster has a task for each shard.
    private func compactionShare() throws -> Double? {
        let name = url.databaseName ?? ""
        let tasks: JSONValue
        do { tasks = try serverJSON("_active_tasks") } catch let error as CommandError where error.status == .refused {
            return nil
        }
        let mine = (tasks.array ?? []).filter { task in
            let database = task["database"]?.string ?? ""
            return task["type"] == "database_compaction" && (database == name || database.contains("/\(name)."))
        }
        let shares = mine.compactMap { $0["progress"]?.int }
        return shares.isEmpty ? nil : Double(shares.reduce(0, +)) / Double(100 * shares.count)
    }

    /// Asks the server of the database.
    func serverJSON(_ path: HTTPPath, query: HTTPQuery = HTTPQuery()) throws -> JSONValue {
        try wait { connection, _ in
            try await connection.server.json("GET", path, query: query, limit: 1 << 30).json
        }
    }
}
