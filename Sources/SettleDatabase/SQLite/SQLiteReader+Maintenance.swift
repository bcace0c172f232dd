extension SQLiteReader {
    /// Does a task that only reads.
    func report(on task: MaintenanceTask) throws -> MaintenanceReport {
        var report = MaintenanceReport()
        switch task {
        case .reclaimSpace: break
        case .check: report.problems = try problems()
        case .measure:
            let size = try connection.integer("PRAGMA page_size") ?? 0
            report.bytes = try (connection.integer("PRAGMA page_count") ?? 0) * size
            report.freeBytes = try (connection.integer("PRAGMA freelist_count") ?? 0) * size
        case .weigh: report.payload = try payload()
        }
        return report
    }

    private func problems() throws -> [String] {
        let rows = try SQLiteStatement("PRAGMA integrity_check(100)", on: connection).all { $0.string(0) }
        let odd = try [
            ("documents WHERE flags NOT IN (0, 1, 2, 3)", "documents have flags that never were"),
            ("blobs WHERE typeof(digest) <> 'blob' OR length(digest) <> 32", "attachment contents have no digest"),
        ].compactMap { rows, problem -> String? in
            let count = try connection.integer("SELECT count(*) FROM \(rows)") ?? 0
            return count == 0 ? nil : "\(count) \(problem)"
        }
        let wrong = try wrongCounts()
        let counts =
            wrong == 0 ? [] : ["\(wrong) kept counts are not what the documents add up to; compact makes them anew"]
        return (rows == ["ok"] ? [] : rows) + odd + counts
    }

    private func payload() throws -> StoragePayload {
        func sum(_ values: String) throws -> Int64 {
            try connection.integer("SELECT ifnull((SELECT sum\(values)), 0)") ?? 0
        }
        // SQLite knows how long a value is without reading it.
        return StoragePayload(
            winners: try sum("(length(body)) FROM documents"),
            apart: try sum("(length(body) + ifnull(length(attachments), 0)) FROM contents"),
            attachments: try sum("(length) FROM blobs"),
            attachmentFiles: try sum("(length) FROM blobs WHERE content IS NULL"))
    }
}
