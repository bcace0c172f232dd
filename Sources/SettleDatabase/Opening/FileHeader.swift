/// Checks the first hundred bytes of a SQLite file without opening it as a database, so that a foreign file is never
/// changed.
enum FileHeader {
    /// Throws unless the file is a Settle database that this version can read.
    ///
    /// - Throws: ``DatabaseError`` with code `notADatabase`, `newerFormat`, `corrupt` or `inputOutput`.
    static func check(_ files: DatabaseFiles) throws {
        let file = try FileHandleReader(path: files.database)
        let header = try file.read(upTo: 100)
        let size = try file.size()
        if header.isEmpty {
            throw DatabaseError(.corrupt, "\(files.database) is empty; a database is never. Restore it from a copy")
        }
        let magic = Array("SQLite format 3\0".utf8)
        guard header.count == 100, Array(header[0..<16]) == magic else {
            throw DatabaseError(.notADatabase, "\(files.database) is not a SQLite file")
        }
        guard Int64(number(in: header, at: 68)) == SQLiteSchema.applicationID else {
            throw DatabaseError(.notADatabase, "\(files.database) is a SQLite file of another application")
        }
        let format = Int64(number(in: header, at: 60))
        if format > SQLiteSchema.version { throw SQLiteSchema.newer(format) }
        guard format > 0 else {
            throw DatabaseError(.corrupt, "\(files.database) says it has format 0, which never was")
        }
        let rawPageSize = Int64(header[16]) << 8 | Int64(header[17])
        let pageSize = rawPageSize == 1 ? 65_536 : rawPageSize
        let expected = pageSize * Int64(number(in: header, at: 28))
        let log = try? FileHandleReader(path: files.database + "-wal").size()
        if size < expected, log ?? 0 == 0 {
            throw DatabaseError(
                .corrupt, "\(files.database) has \(size) bytes where its header says \(expected); it was cut short")
        }
    }

    private static func number(in header: [UInt8], at offset: Int) -> UInt32 {
        header[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
