internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads a write-ahead log before SQLite opens it, to find out whether SQLite will drop transactions at its end.
///
///     header | frame | frame, commit | frame ✗ | frame, commit | older frames
///                                    └ SQLite stops here and drops what follows
///
/// SQLite uses a log up to the first frame with a wrong checksum. The last transaction of a killed process may end
/// in such a frame, too, but then no commit follows it. If a commit follows, the log was damaged.
struct LogCheck {
    /// The number of frames that SQLite can use.
    private(set) var usable = 0
    /// The number of later frames that end a transaction.
    private(set) var lost = 0
    /// Whether there are later frames. They must be removed: if SQLite overwrote only some, the rest would seem to
    /// be valid.
    private(set) var hasRest = false
    /// A description of the damage; `nil` for a log that SQLite can use as a whole.
    private(set) var problem: String?
    private var sums: (UInt32, UInt32) = (0, 0)
    private static let headerLength = 32
    private static let frameHeaderLength = 24

    /// Reads the log of a database, if there is one.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`.
    init(of path: String) throws {
        let headerLength = Self.headerLength
        guard let size = FileHandleReader.size(ofFileAt: path), size > Int64(headerLength) else { return }
        let file = try FileHandleReader(path: path)
        let header = try file.read(upTo: headerLength)
        // A log that was never written to has zeros here.
        guard header.count == headerLength, header.contains(where: { $0 != 0 }) else { return }
        guard try run(header, file) else {
            problem = "the write-ahead log can't be used: its first \(headerLength) bytes are damaged"
            return
        }
        guard lost > 0 else { return }
        problem = """
            the write-ahead log ended early: a page after the first \(usable) is damaged, and \
            \(lost == 1 ? "1 transaction" : "\(lost) transactions") after it could not be read\
            \(lost == 1 ? "; after a loss of power that may be one that was not acknowledged" : "")
            """
    }

    private mutating func run(_ header: [UInt8], _ file: FileHandleReader) throws -> Bool {
        let magic = Self.word(header, 0)
        guard magic & ~1 == 0x377F_0682 else { return false }
        let isBigEndian = magic & 1 == 1
        add(header, 0..<24, isBigEndian)
        let pageSize = Int(Self.word(header, 8))
        guard sums == (Self.word(header, 24), Self.word(header, 28)), (512...65_536).contains(pageSize) else {
            return false
        }
        let salts = header[16..<24]
        var isUsable = true
        while true {
            let frame = try file.read(upTo: Self.frameHeaderLength + pageSize)
            guard frame.count == Self.frameHeaderLength + pageSize else { return true }
            // Frames of an earlier round through the file have other salts.
            guard frame[8..<16] == salts else {
                isUsable = false
                continue
            }
            if isUsable {
                add(frame, 0..<8, isBigEndian)
                add(frame, Self.frameHeaderLength..<frame.count, isBigEndian)
                isUsable = sums == (Self.word(frame, 16), Self.word(frame, 20))
                if isUsable { usable += 1 }
            } else if Self.word(frame, 4) != 0 {
                lost += 1
            }
            if !isUsable { hasRest = true }
        }
    }

    /// Adds whole pairs of words to the checksum of the log.
    private mutating func add(_ bytes: [UInt8], _ range: Range<Int>, _ isBigEndian: Bool) {
        var (first, second) = sums
        bytes.withUnsafeBytes { raw in
            for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                let left = raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = raw.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first = first &+ (isBigEndian ? left.bigEndian : left.littleEndian) &+ second
                second = second &+ (isBigEndian ? right.bigEndian : right.littleEndian) &+ first
            }
        }
        sums = (first, second)
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension DatabaseFiles {
    /// A copy of a write-ahead log that was damaged when the database was opened.
    var damagedLog: String { folder + "/damaged.wal" }

    /// Keeps a copy of a log that SQLite will only use in part, since SQLite overwrites the rest.
    ///
    /// - Returns: The result of the check.
    /// - Throws: ``DatabaseError`` with code `inputOutput` if it can't be read.
    func checkLog() throws -> LogCheck {
        let check = try LogCheck(of: database + "-wal")
        if check.problem != nil, FileStatus(path: damagedLog) == nil {
            // The database is opened even if there is no space for a copy.
            try? FileManager.default.copyItem(atPath: database + "-wal", toPath: damagedLog)
        }
        return check
    }

    /// The problem that verification reports for a damaged log.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` if it can't be read.
    func problemOfLog() throws -> String? {
        guard let problem = try LogCheck(of: damagedLog).problem else { return nil }
        return
            "\(problem); restore what is missing from a copy or a peer. The log is kept as \(damagedLog): remove it then"
    }
}

// MARK: - FileHeader

/// Checks the first hundred bytes of a SQLite file without opening it as a database, so that a file of another
/// program is never changed.
enum FileHeader {
    /// Checks that the file is a Settle database that this version can read.
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
