package import Foundation
package import SettleCore
internal import SettlePlatform

/// Reads a database of CouchDB from its files, for where the server is gone and its volume is left.
///
/// A database has a file for each range of hashes of ids, `shards/RANGE/NAME.SUFFIX.couch`, and all are read one after the other.
/// The sequence of a document is that of its file, with the number of the file in the bits above 48.
package final class CouchFileReader: ForeignReader {
    package let kind = ForeignDatabase.Kind.couchdb
    package let product: String
    package let identity: String?
    package let collections = [defaultCollection]
    package private(set) var leftOut: [String] = []
    private let files: [CouchFile]

    private static let maximumSequence = UInt64(1) << 48

    /// The reader of a file, or of the files of a folder.
    ///
    /// - Parameters:
    ///   - url: A `.couch` file, the folder with the ranges, or one around it. Of a file in a folder with a range the others
    ///     are read too.
    ///   - isPartial: Whether files of some ranges may be missing.
    /// - Returns: `nil` if it is not of CouchDB.
    /// - Throws: ``ForeignFileError`` if it can't be imported.
    package static func reader(at url: URL, isPartial: Bool = false) throws -> (any ForeignReader)? {
        guard let shards = try CouchShards(url) else { return nil }
        try shards.checkCount()
        if !isPartial { try shards.checkRanges() }
        return try CouchFileReader(shards)
    }

    private init(_ shards: CouchShards) throws {
        files = try shards.files.map { try CouchFile($0.url) }
        let versions = Set(files.map(\.header.version)).sorted().map { String($0) }.joined(separator: ", ")
        product = "CouchDB, disk version \(versions)" + (files.count > 1 ? ", \(files.count) files" : "")
        let uuids = files.compactMap(\.header.uuid)
        identity = uuids.isEmpty ? nil : uuids.joined(separator: ",")
        for file in files where file.unread > 0 {
            leftOut.append("the last \(file.unread) bytes of \(file.name), after the last commit that is whole")
        }
        if files.contains(where: \.header.hasSecurity) { leftOut.append("the security object") }
    }

    package func count(in collection: String) throws -> Int {
        try files.reduce(0) { sum, file in
            if let count = file.count { return sum + count }
            var count = 0
            try file.forEach(in: file.header.sequences, by: \.integer) { _, _ in count += 1 }
            return sum + count
        }
    }

    package func forEachDocument(
        in collection: String, after sequence: UInt64, _ body: (ForeignDocument) throws -> Void
    ) throws {
        for (number, file) in files.enumerated() {
            let base = UInt64(number) * Self.maximumSequence
            guard sequence < base + Self.maximumSequence else { continue }
            let start = sequence > base ? Int(sequence - base) : nil
            try file.forEach(in: file.header.sequences, by: \.integer, after: start) { place, value in
                guard let place = UInt64(exactly: place), place < Self.maximumSequence else {
                    throw ForeignFileError(.damaged, "\(file.name) is damaged: a sequence is out of range")
                }
                try body(Self.document(value, base | place, file, base))
            }
        }
    }

    private static func document(
        _ value: StoredTerm, _ sequence: UInt64, _ file: CouchFile, _ base: UInt64
    ) throws -> ForeignDocument {
        guard let fields = value.tuple, let bytes = fields.first?.binary, fields.count >= 3 else {
            throw ForeignFileError(.damaged, "\(file.name) is damaged: a document can't be read")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        func faulty(_ message: String) -> ForeignDocument {
            var document = ForeignDocument(id: DocumentID(unchecked: text), sequence: sequence, leaves: [])
            document.faults = [ForeignFault(revision: nil, message: message)]
            return document
        }
        guard let id = DocumentID(text), text.utf8.elementsEqual(bytes) else {
            return faulty("its id is not one of a document")
        }
        do {
            var tree = fields.last
            // CouchDB 1 has only the ids of revisions here, and the tree among the ids.
            if fields[1].integer == nil { tree = try file.value(of: bytes)?.tuple?.last }
            guard let tree else { return faulty("its revisions are not in the file") }
            return try CouchDocument(tree, in: file, base: base).document(id, sequence: sequence)
        } catch let error as ForeignFileError where error.code == .damaged { return faulty(error.message) }
    }

    package func forEachLocalDocument(_ body: (DocumentID, DocumentBody) throws -> Void) throws {
        for file in files {
            try file.forEach(in: file.header.locals, by: Self.text) { id, value in
                // Notes of CouchDB itself about purges and about the copies of the file.
                guard !id.hasPrefix("_local/purge-"), !id.hasPrefix("_local/shard-sync-"), let name = DocumentID(id),
                    name.isLocal
                else { return }
                guard let members = value.tuple?.last.flatMap({ CouchDocument.body($0) }) else {
                    leftOut.append("the local document \(id.debugDescription), which can't be read")
                    return
                }
                if !LocalCheckpoint.isOne(members) { try body(name, members) }
            }
        }
    }

    /// The text of a binary.
    private static func text(_ term: StoredTerm) -> String? { term.binary.map { String(decoding: $0, as: UTF8.self) } }

    package func read(_ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard case .chunks(let places) = attachment.place else {
            return try AttachmentContent.read(attachment, body)
        }
        for place in places {
            let number = Int(place / Self.maximumSequence)
            guard files.indices.contains(number) else {
                throw AttachmentContent.missing(attachment)
            }
            try AttachmentContent.pass(files[number].chunk(at: Int(place % Self.maximumSequence)), body)
        }
    }
}

// MARK: - CouchShards

/// The files of one database, found by their places in the folder of a server.
///
///     data/shards/00000000-7fffffff/team/notes.1700000000.couch
///                 80000000-ffffffff/team/notes.1700000000.couch
struct CouchShards {
    /// A file, and the range of hashes of its ids; `nil` where the folder names none.
    struct Shard {
        let url: URL
        let range: ClosedRange<UInt32>?
    }

    let files: [Shard]
    private let name: String

    /// The number of a file is in the sequences of its documents.
    private static let maximumCount = 10_000

    /// Finds the files; `nil` if there are none.
    ///
    /// - Throws: ``ForeignFileError`` if there are files of several databases.
    init?(_ url: URL) throws {
        name = url.lastPathComponent
        guard let status = FileStatus(path: url.path) else { return nil }
        guard status.isFolder else {
            guard status.isRegular, url.pathExtension == "couch" || CouchFile.isOne(url) else { return nil }
            files = Self.siblings(of: url)
            return
        }
        let ranges = Self.ranges(in: url) + Self.ranges(in: url.appending(path: "shards"))
        var databases: [String: [Shard]] = [:]
        for (range, folder) in ranges {
            for path in Self.files(in: folder, depth: 4) {
                databases[path, default: []].append(Shard(url: folder.appending(path: path), range: range))
            }
        }
        if ranges.isEmpty {
            for path in Self.files(in: url, depth: 1) { databases[path] = Self.siblings(of: url.appending(path: path)) }
        }
        // Databases of CouchDB itself only if there is no other.
        let own = databases.filter { !$0.key.hasPrefix("_") }
        if !own.isEmpty { databases = own }
        guard let first = databases.first else { return nil }
        guard databases.count == 1 else {
            let list = databases.keys.sorted().prefix(10).joined(separator: ", ")
            throw ForeignFileError(
                .unsupported, "\(name) holds \(databases.count) databases of CouchDB: give a file of one (\(list))")
        }
        files = first.value.sorted { ($0.range?.lowerBound ?? 0) < ($1.range?.lowerBound ?? 0) }
    }

    /// The files of the same database, if a file is in a folder with a range; else the file alone.
    private static func siblings(of url: URL) -> [Shard] {
        var (folder, path) = (url.standardizedFileURL.deletingLastPathComponent(), url.lastPathComponent)
        for _ in 0..<4 {
            if range(folder.lastPathComponent) != nil {
                return ranges(in: folder.deletingLastPathComponent())
                    .map { Shard(url: $0.folder.appending(path: path), range: $0.range) }
                    .filter { FileStatus(path: $0.url.path)?.isRegular == true }
                    .sorted { ($0.range?.lowerBound ?? 0) < ($1.range?.lowerBound ?? 0) }
            }
            path = folder.lastPathComponent + "/" + path
            folder = folder.deletingLastPathComponent()
        }
        return [Shard(url: url, range: nil)]
    }

    private static func ranges(in folder: URL) -> [(range: ClosedRange<UInt32>, folder: URL)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.compactMap { name in range(name).map { ($0, folder.appending(path: name)) } }
    }

    /// The range that a folder is named after: `00000000-7fffffff`.
    private static func range(_ name: String) -> ClosedRange<UInt32>? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 8 }), let first = UInt32(parts[0], radix: 16),
            let last = UInt32(parts[1], radix: 16), first <= last
        else { return nil }
        return first...last
    }

    /// The paths of the files in a folder, some levels deep, as the names of databases may have slashes.
    private static func files(in folder: URL, depth: Int) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().flatMap { name -> [String] in
            let url = folder.appending(path: name)
            guard !name.hasPrefix("."), let status = FileStatus(path: url.path) else { return [] }
            if status.isFolder { return depth > 1 ? files(in: url, depth: depth - 1).map { name + "/" + $0 } : [] }
            return status.isRegular && name.hasSuffix(".couch") ? [name] : []
        }
    }

    /// Checks that there are not too many files.
    ///
    /// - Throws: ``ForeignFileError`` with code `unsupported`.
    func checkCount() throws {
        guard files.count > Self.maximumCount else { return }
        throw ForeignFileError(.unsupported, "\(name) has more than \(Self.maximumCount) files of one database")
    }

    /// Checks that the ranges are all, and that none overlap.
    ///
    /// - Throws: ``ForeignFileError`` with code `missing`.
    func checkRanges() throws {
        let ranges = files.compactMap(\.range)
        guard ranges.count == files.count else { return }
        var next: UInt64? = 0
        for range in ranges { next = next == UInt64(range.lowerBound) ? UInt64(range.upperBound) + 1 : nil }
        if next == 1 << 32 { return }
        let list = ranges.prefix(8).map { Self.text($0) }.joined(separator: ", ")
        throw ForeignFileError(
            .missing,
            "\(name) has the shard \(list) and not all of 00000000-ffffffff: give the folder of all, or import a part")
    }

    private static func text(_ range: ClosedRange<UInt32>) -> String {
        [range.lowerBound, range.upperBound].map { Hexadecimal.encode(UInt64($0)).suffix(8) }.joined(separator: "-")
    }
}
