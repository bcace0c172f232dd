import Foundation
import SettleCore
import SettleCrypto
import SettlePlatform
import Testing

@testable import SettleImport

/// All that a reader gives, for comparisons.
struct ForeignProbe {
    struct Leaf: Equatable {
        var history: RevisionHistory
        var isDeleted: Bool
        var body: JSONValue
        /// The MD5 of the stored bytes by name; `nil` where the content is missing.
        var attachments: [String: [UInt8]?]
    }

    /// The leaves of each document.
    var leaves: [DocumentID: [RevisionID: Leaf]] = [:]
    var bases: [DocumentID: [RevisionID: Leaf]] = [:]
    var locals: [DocumentID: JSONValue] = [:]
    var sequences: [UInt64] = []
    var order: [DocumentID] = []
    var faults: [String] = []
    var leafCount: Int { leaves.values.reduce(0) { $0 + $1.count } }

    /// Reads everything. An attachment whose digest differs is a fault.
    init(_ reader: any ForeignReader, after sequence: UInt64 = 0) throws {
        var documents: [ForeignDocument] = []
        try reader.forEachDocument(in: defaultCollection, after: sequence) { documents.append($0) }
        for document in documents {
            sequences.append(document.sequence)
            order.append(document.id)
            for fault in document.faults { faults.append("\(document.id): \(fault.message)") }
            for leaf in document.leaves { leaves[document.id, default: [:]][leaf.revision] = try read(leaf, reader) }
            for base in document.bases { bases[document.id, default: [:]][base.revision] = try read(base, reader) }
        }
        try reader.forEachLocalDocument { locals[$0] = $1.json }
    }

    private mutating func read(_ revision: Revision<ForeignAttachment>, _ reader: any ForeignReader) throws -> Leaf {
        var attachments: [String: [UInt8]?] = [:]
        for attachment in revision.attachments {
            let md5 = MD5()
            var count = 0
            do {
                try reader.read(attachment) {
                    #expect($0.count <= 65_536)
                    count += $0.count
                    md5.update($0)
                }
                let sum = md5.finish()
                attachments[attachment.name] = .some(sum)
                if case .md5(let digest)? = attachment.digest, digest != sum {
                    faults.append("\(revision.id) \(attachment.name): the digest differs")
                }
                if !attachment.isGzip, Int64(count) != attachment.length {
                    faults.append("\(revision.id) \(attachment.name): the length differs")
                }
            } catch let error as ForeignFileError {
                attachments[attachment.name] = .some(nil)
                faults.append("\(revision.id) \(attachment.name): \(error.message)")
            }
        }
        return Leaf(
            history: revision.history, isDeleted: revision.isDeleted, body: revision.body.json, attachments: attachments
        )
    }

    /// Whether each leaf here is the same in another probe: nothing wrong was read, though something may be missing.
    func differences(from original: ForeignProbe) -> [String] {
        leaves.flatMap { id, leaves in
            leaves.compactMap { revision, leaf in
                guard let known = original.leaves[id]?[revision] ?? original.bases[id]?[revision] else {
                    return "\(id) \(revision) is not in the original"
                }
                if !leaf.body.hasSameMeaning(as: known.body) || leaf.isDeleted != known.isDeleted {
                    return "\(id) \(revision) is \(leaf.body), not \(known.body)"
                }
                return nil
            }
        }
    }
}

// MARK: - Fixtures

/// Files of other products, which lie beside the repository where they may be kept, with the values that they hold.
enum FixtureFiles {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let folder = repository.appending(path: "../shared/files").standardizedFileURL

    static var areThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func url(_ path: String) -> URL { folder.appending(path: path) }

    static func json(_ path: String) throws -> JSONValue {
        try JSONValue(utf8: Array(try Data(contentsOf: url(path))))
    }

    /// A copy in a folder of its own, which `use` may change.
    static func withCopy<Result>(of url: URL, _ use: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appending(path: url.lastPathComponent)
        try FileManager.default.copyItem(at: url, to: copy)
        return try use(copy)
    }

    /// The regular files of a folder or the file itself.
    static func files(in url: URL) throws -> [URL] {
        guard FileStatus(path: url.path)?.isFolder == true else { return [url] }
        return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
            .map { url.appending(path: $0) }
    }

    /// Cuts a file or changes bits of it at random.
    ///
    /// - Returns: What was done.
    @discardableResult
    static func damage(_ url: URL, _ random: inout some RandomNumberGenerator) throws -> String {
        let files = try files(in: url).filter { (FileStatus(path: $0.path)?.size ?? 0) > 0 }
        let file = try #require(files.randomElement(using: &random))
        var bytes = Array(try Data(contentsOf: file))
        if Int.random(in: 0..<4, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        } else {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
        try Data(bytes).write(to: file)
        return "\(file.lastPathComponent) with \(bytes.count) bytes"
    }
}

// MARK: - Comparison

extension ForeignProbe {
    /// Compares with the values that a fixture holds: `docs`, each with `revs`, of which some are leaves.
    func compare(with expected: JSONValue, ignoring ignored: Set<String> = []) throws {
        let documents = try #require(expected["docs"]?.object)
        var found = 0
        for (name, document) in documents.map({ ($0.name, $0.value) }) where !ignored.contains(name) {
            let revisions = try #require(document["revs"]?.array)
            let parents = Dictionary(
                revisions.map { ($0["rev"]?.string ?? "", $0["parent"]?.string) }, uniquingKeysWith: { $1 })
            let id = try DocumentID(validating: name)
            let wanted = revisions.filter { $0["leaf"] == true }
            #expect(leaves[id]?.count == wanted.count, "\(id)")
            found += wanted.count
            for revision in wanted {
                let text = try #require(revision["rev"]?.string)
                let leaf = try #require(leaves[id]?[RevisionID(validating: text)], "\(id) \(text)")
                var history: [RevisionID] = []
                var next: String? = text
                while let current = next {
                    history.append(try RevisionID(validating: current))
                    next = parents[current] ?? nil
                }
                #expect(leaf.history.revisions == history, "\(id) \(text)")
                #expect(leaf.isDeleted == (revision["deleted"] == true), "\(id) \(text)")
                #expect(leaf.body.hasSameMeaning(as: revision["body"] ?? [:]), "\(id) \(text)")
                let attachments = revision["attachments"]?.array ?? []
                #expect(leaf.attachments.count == attachments.count, "\(id) \(text)")
                for attachment in attachments {
                    let name = try #require(attachment["name"]?.string)
                    let content = try #require(leaf.attachments[name], "\(id) \(text) \(name)")
                    if let digest = attachment["digest"]?.string {
                        #expect("md5-" + Base64.encode(content ?? []) == digest, "\(id) \(text) \(name)")
                    } else {
                        #expect(content != nil, "\(id) \(text) \(name)")
                    }
                }
            }
        }
        #expect(leafCount == found)
        #expect(faults.isEmpty, "\(faults)")
        #expect(sequences == sequences.sorted())
    }

    /// Compares with a product's own answers to `open_revs=all&revs=true`.
    func compare(withAnswers answers: JSONValue) throws {
        var found = 0
        for (name, rows) in try #require(answers.object).map({ ($0.name, $0.value) }) {
            let id = try DocumentID(validating: name)
            for row in try #require(rows.array) {
                let given = try #require(row["ok"])
                let text = try #require(given["_rev"]?.string)
                let leaf = try #require(leaves[id]?[RevisionID(validating: text)], "\(id) \(text)")
                let history = try #require(given["_revisions"])
                #expect(Int(leaf.history.start) == history["start"]?.int, "\(id) \(text)")
                let ids = leaf.history.signatures.map { JSONValue.string($0.description) }
                #expect(ids == history["ids"]?.array, "\(id) \(text)")
                #expect(leaf.isDeleted == (given["_deleted"] == true), "\(id) \(text)")
                let members = JSONObject(
                    try #require(given.object).filter { !$0.name.hasPrefix("_") }.map { ($0.name, $0.value) })
                #expect(leaf.body.hasSameMeaning(as: .object(members)), "\(id) \(text)")
                let attachments = given["_attachments"]?.object
                #expect(leaf.attachments.count == attachments?.count ?? 0, "\(id) \(text)")
                for member in attachments ?? [:] {
                    let content = try #require(leaf.attachments[member.name], "\(id) \(text) \(member.name)")
                    #expect("md5-" + Base64.encode(content ?? []) == member.value["digest"]?.string, "\(member.name)")
                }
                found += 1
            }
        }
        #expect(leafCount == found)
    }
}
