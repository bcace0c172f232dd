internal import Foundation
internal import Settle
import SettleCore
import SettleCrypto
import SettleDatabase
import SettlePlatform

/// A folder of backups of a server: one moment for each backup, which names all files that restore it.
///
///     backup/
///       backup.json                      what the folder is
///       20261126T180000.000Z/            a moment; it gets this name when it is complete
///         moment.json                    for each database its files, also those of moments before, with their digests
///         server.json                    administrators, the secret of cookies, settings
///         notes.jsonl                    what was changed since the moment before, as `settle export` writes it
///         notes.local.jsonl              all local documents
struct BackupFolder {
    let path: String
    private static let marker = "backup.json"
    private static let version = 1

    /// Opens a folder of backups. An empty or missing folder becomes one.
    ///
    /// - Throws: ``CommandError`` with code `exists` for a folder of other files, or status `inputOutput`.
    init(creating path: String) throws {
        self.path = path
        guard !Self.isBackup(path) else {
            try check()
            return
        }
        try makePrivateFolder(path)
        guard try Self.names(in: path).isEmpty else {
            throw CommandError(
                "exists", "\(path) has files that are not a backup's; give a new folder", status: .conflict)
        }
        try Self.write(["settle_backup": .number(JSONNumber(Self.version))], to: path + "/" + Self.marker)
    }

    /// Opens a folder of backups that exists.
    ///
    /// - Throws: ``CommandError`` with status `notFound` or `damaged`.
    init(_ path: String) throws {
        self.path = path
        guard Self.isBackup(path) else { throw CommandError.notFound("\(path) is not a folder of settle backup") }
        try check()
    }

    /// Whether a folder has backups.
    static func isBackup(_ path: String) -> Bool { FileStatus(path: path + "/" + marker) != nil }

    private func check() throws {
        let found = try JSONValue(utf8: ByteInput.open(path + "/" + Self.marker).readAll())["settle_backup"]?.int
        guard found == Self.version else {
            throw CommandError(
                "newer_format", "\(path) has the backups of another version of settle", status: .damaged)
        }
    }

    /// The moments, oldest first. A folder without a list is not a moment: it only keeps files that later moments need.
    func moments() throws -> [BackupMoment] {
        let names = try Self.names(in: path).filter {
            $0.hasSuffix("Z") && FileStatus(path: "\(path)/\($0)/\(BackupMoment.fileName)") != nil
        }
        return try names.sorted().map { name in
            let text = try ByteInput.open("\(path)/\(name)/\(BackupMoment.fileName)").readAll()
            guard let moment = (try? JSONValue(utf8: text)).flatMap({ BackupMoment(name, $0) }) else {
                throw CommandError(
                    "corrupt", "\(path)/\(name)/\(BackupMoment.fileName) is damaged", status: .damaged)
            }
            return moment
        }
    }

    /// Finds the newest moment that is not after a time.
    ///
    /// - Parameter text: A moment's name, or a time in UTC: `2026-11-26T18:00:00.000`, or `20261126T180000.000` as in names.
    ///   The time may end after each of its numbers: `2026-11` is the end of that month. A `Z` may follow the time of day. `nil`
    ///   is for the newest moment.
    /// - Returns: The moment.
    /// - Throws: ``CommandError`` with status `usage` for any other text, or `notFound`.
    func moment(at text: String?) throws -> BackupMoment {
        let all = try moments()
        if let named = all.first(where: { $0.name == text }) { return named }
        // Digits of a later time sort after those of an earlier one, and a time without seconds means their end.
        let limit = try text.map(Self.digits)
        let chosen = all.last { moment in
            guard let limit else { return true }
            let digits = moment.name.filter(\.isNumber)
            return digits.prefix(limit.count) <= limit
        }
        if let chosen { return chosen }
        guard let first = all.first else { throw CommandError.notFound("\(path) has no complete backup") }
        throw CommandError.notFound("\(path) has no backup as old as \(text ?? ""); the oldest is \(first.name)")
    }

    /// The digits of a time, or of its beginning up to the end of a number.
    private static func digits(of text: String) throws -> String {
        let hasDashes = text.utf8.dropFirst(4).first == UInt8(ascii: "-")
        let form = (hasDashes ? "0000-00-00T00:00:00.000" : "00000000T000000.000").utf8
        let time = text.hasSuffix("Z") && text.contains("T") ? text.dropLast() : text[...]
        let isInForm =
            time.utf8.count <= form.count
            && zip(time.utf8, form).allSatisfy { byte, place in
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                return place == UInt8(ascii: "0") ? isDigit : byte == place
            }
        let digits = String(time).filter(\.isNumber)
        let isWhole = [4, 6, 8, 10, 12, 14, 17].contains(digits.count) && time.last?.isNumber == true
        let ranges: [(start: Int, range: ClosedRange<Int>)] = [
            (4, 1...12), (6, 1...31), (8, 0...23), (10, 0...59), (12, 0...60),
        ]
        let isInRange = ranges.allSatisfy { start, range in
            guard digits.count > start else { return true }
            return Int(digits.dropFirst(start).prefix(2)).map { range.contains($0) } ?? false
        }
        guard isInForm, isWhole, isInRange else {
            throw CommandError.usage(
                "--at takes a moment's name, or a time in UTC such as 2026-11-26T18:00 or 2026-11, not \"\(text)\"",
                verb: "restore")
        }
        return digits
    }

    /// Begins a moment in a folder that has another name until ``finish(_:)``. Removes the leftovers of interrupted backups.
    func begin(_ name: String) throws -> String {
        for left in try Self.names(in: path) where left.hasSuffix(Self.unfinished) {
            try FileManager.default.removeItem(atPath: path + "/" + left)
        }
        let folder = "\(path)/\(name)\(Self.unfinished)"
        try makePrivateFolder(folder)
        return folder
    }

    /// Writes the list of a moment's files, and gives its folder the final name.
    func finish(_ moment: BackupMoment) throws {
        let folder = "\(path)/\(moment.name)\(Self.unfinished)"
        try Self.write(moment.json, to: folder + "/" + BackupMoment.fileName)
        try renameDurably(folder, to: "\(path)/\(moment.name)")
    }

    /// Removes all moments but the newest ones, and the files that no remaining moment needs.
    ///
    /// - Returns: The number of moments that were removed.
    func keep(_ count: Int) throws -> Int {
        let all = try moments()
        let kept = all.suffix(count)
        let needed = Set(kept.flatMap(\.files).map(\.path))
        // Without its list the folder is no longer a moment, even if this is interrupted.
        for moment in all.dropLast(count) {
            try FileManager.default.removeItem(atPath: "\(path)/\(moment.name)/\(BackupMoment.fileName)")
        }
        for name in try Self.names(in: path) where name.hasSuffix("Z") && !kept.contains(where: { $0.name == name }) {
            let folder = "\(path)/\(name)"
            for file in try Self.names(in: folder) where !needed.contains("\(name)/\(file)") {
                try FileManager.default.removeItem(atPath: "\(folder)/\(file)")
            }
            if try Self.names(in: folder).isEmpty { try FileManager.default.removeItem(atPath: folder) }
        }
        return all.count - kept.count
    }

    /// Describes a file of a moment that was written.
    func described(_ file: String, in moment: String, folder: String) throws -> BackupMoment.File {
        let (bytes, digest) = try Self.digest(folder + "/" + file)
        return BackupMoment.File(path: "\(moment)/\(file)", bytes: bytes, sha256: digest)
    }

    /// The problem with a file; `nil` if it is as it was written.
    func problem(of file: BackupMoment.File) -> String? {
        guard let (bytes, digest) = try? Self.digest("\(path)/\(file.path)") else {
            return "\(file.path) is missing or can't be read"
        }
        return bytes == file.bytes && digest == file.sha256 ? nil : "\(file.path) is damaged: its digest differs"
    }

    private static func digest(_ path: String) throws -> (Int64, String) {
        let input = try ByteInput.open(path)
        let hash = SHA256()
        var count: Int64 = 0
        while case let piece = try input.read(), !piece.isEmpty {
            piece.withUnsafeBytes { hash.update($0) }
            count += Int64(piece.count)
        }
        return (count, Hexadecimal.encode(hash.finish()))
    }

    private static func write(_ json: JSONValue, to path: String) throws {
        let output = try ByteOutput(path: path)
        try output.write(json.utf8 + [UInt8(ascii: "\n")])
        try output.finish()
    }

    private static func names(in path: String) throws -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            throw CommandError("input_output", "can't list \(path)", status: .inputOutput)
        }
    }

    private static let unfinished = ".unfinished"
}

/// A state of a server that can be restored.
struct BackupMoment {
    static let fileName = "moment.json"

    /// A file of the backup.
    struct File {
        /// Its path in the folder of backups.
        let path: String
        let bytes: Int64
        let sha256: String
    }

    /// A database at the moment.
    struct Entry {
        /// The identity of the database at its server, the state of its purges, and the position up to which it was read.
        var instance: String?
        var purges: JSONValue
        var sequence: JSONValue
        var security: JSONValue
        var revisionLimit: Int?
        /// Whether it is the state at one point in time. It is not if other clients kept writing during the backup.
        var isConsistent: Bool
        /// The files with its documents, in the order in which they are imported.
        var documents: [File]
        var locals: File
    }

    /// The time of the backup in UTC: `20261126T180000.000Z`.
    let name: String
    let source: String
    var databases: [(name: String, entry: Entry)] = []
    var server: File?

    /// All files that the moment needs.
    var files: [File] { databases.flatMap { $0.entry.documents + [$0.entry.locals] } + [server].compactMap(\.self) }
}

extension BackupMoment {
    init(_ name: String, source: String) { (self.name, self.source) = (name, source) }

    init?(_ name: String, _ json: JSONValue) {
        guard let list = json["databases"]?.object, let source = json["source"]?.string else { return nil }
        self.init(name, source: source)
        for member in list {
            guard let entry = Entry(member.value) else { return nil }
            databases.append((member.name, entry))
        }
        if let file = json["server"], !file.isNull {
            guard let server = File(file) else { return nil }
            self.server = server
        }
    }

    var json: JSONValue {
        [
            "source": .string(source), "server": server?.json ?? .null,
            "databases": .object(JSONObject(databases.map { ($0.name, $0.entry.json) })),
        ]
    }

    subscript(database: String) -> Entry? { databases.first { $0.name == database }?.entry }
}

extension BackupMoment.File {
    init?(_ json: JSONValue) {
        guard let path = json["path"]?.string, let bytes = json["bytes"]?.int, let sha256 = json["sha256"]?.string,
            !path.hasPrefix("/"), !path.split(separator: "/").contains("..")
        else { return nil }
        self.init(path: path, bytes: Int64(bytes), sha256: sha256)
    }

    var json: JSONValue {
        ["path": .string(path), "bytes": .number(JSONNumber(bytes)), "sha256": .string(sha256)]
    }
}

extension BackupMoment.Entry {
    init?(_ json: JSONValue) {
        guard let sequence = json["sequence"], let purges = json["purges"], let security = json["security"],
            let files = json["documents"]?.array, let locals = json["locals"].flatMap(BackupMoment.File.init)
        else { return nil }
        let documents = files.compactMap(BackupMoment.File.init)
        guard documents.count == files.count else { return nil }
        self.init(
            instance: json["instance"]?.string, purges: purges, sequence: sequence, security: security,
            revisionLimit: json["revs_limit"]?.int, isConsistent: json["consistent"] == true, documents: documents,
            locals: locals)
    }

    var json: JSONValue {
        [
            "instance": instance.map(JSONValue.string) ?? .null, "purges": purges, "sequence": sequence,
            "security": security, "revs_limit": revisionLimit.map { .number(JSONNumber($0)) } ?? .null,
            "consistent": .bool(isConsistent), "documents": .array(documents.map(\.json)), "locals": locals.json,
        ]
    }
}
