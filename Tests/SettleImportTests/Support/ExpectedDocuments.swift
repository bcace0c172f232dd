import Foundation
import Settle
import SettleCore
import SettleCrypto
import SettlePlatform
import Testing

@testable import SettleImport

/// What a database must hold after an import, as another program than the reader says: each leaf of each document, and the local
/// documents.
struct ExpectedDocuments {
    struct Leaf {
        /// The revision and its ancestors, the newest first; `nil` for a document without a revision, which becomes an edit.
        var history: [String]?
        var isDeleted = false
        var body: JSONValue
        var attachments: [Attachment] = []
    }

    struct Attachment {
        var name: String
        /// The length before any compression.
        var length: Int?
        /// The MD5 of the stored bytes, as `md5-…`.
        var md5: String?
        /// The SHA-1 of the stored bytes.
        var sha1: [UInt8]?
        /// The bytes before any compression.
        var content: [UInt8]?
    }

    private(set) var leaves: [String: [Leaf]] = [:]
    private(set) var locals: [String: JSONValue] = [:]
    /// The dates at which documents expire, in milliseconds since 1970.
    private(set) var expirations: [String: Int] = [:]
    /// The revisions and attachments that the file names and does not hold.
    private(set) var lostRevisions = 0
    private(set) var lostAttachments = 0
    /// Whether the values are those of some documents only.
    private(set) var isPart = false
    /// Whether a stored history may be longer than the expected one, because another revision told of more ancestors.
    private var hasPartialHistories = false

    /// The members of a body.
    private static func body(_ value: JSONValue?) -> JSONValue {
        let members = (value?.object ?? [:]).filter { !$0.name.hasPrefix("_") }
        return .object(JSONObject(members.map { ($0.name, $0.value) }))
    }
}

// MARK: - Rows

extension ExpectedDocuments {
    /// Reads `docs`, which has the revisions of each document, and `local`.
    init(revisions json: JSONValue) throws {
        isPart = json["docsShown"] != nil
        for member in try #require(json["docs"]?.object) {
            let rows = try #require(member.value.array ?? member.value["revs"]?.array)
            if member.name.hasPrefix("_local/") {
                locals[member.name] = Self.body(rows.last?["body"])
            } else {
                try add(rows, of: member.name)
            }
        }
        for entry in json["expiry"]?.array ?? [] {
            expirations[entry[0]?.string ?? ""] = entry[1]?.int.map { $0 * 1000 }
        }
        // Checkpoints of replications are not imported.
        for entry in json["local"]?.array ?? [] {
            let id = try #require(entry[0]?.string)
            guard id != "_local/CBL_LocalCheckpoint", let text = entry[2]?.string else { continue }
            let body = try JSONValue(parsing: text)
            if body["lastSequence"] == nil { locals[id] = Self.body(body) }
        }
        for member in json["local"]?.object ?? [:] where member.value["session_id"] == nil {
            locals[member.name] = Self.body(member.value)
        }
    }

    /// Reads a collection of Couchbase Lite, which has a row for each document.
    init(collection json: JSONValue) throws {
        for member in try #require(json.object) {
            let row = try #require(member.value[0])
            expirations[member.name] = row["expiration"]?.int
            guard row["layout"] == "vector" else {
                try add(try #require(row["revs"]?.array), of: member.name)
                continue
            }
            let flags = try #require(row["docflags"]?.int)
            var leaf = Leaf(
                history: CouchbaseLiteFixtureTests.history(row["version"]?.string ?? ""), isDeleted: flags & 1 != 0,
                body: Self.body(row["body"]))
            leaf.attachments = Self.blobs(row)
            leaves[member.name, default: []].append(leaf)
            // The server's side of a conflict.
            if let copy = row["remoteRevs"]?.array?.first(where: { $0["flags"] == 2 }) {
                let history = CouchbaseLiteFixtureTests.history(copy["rev"]?.string ?? "")
                leaves[member.name, default: []].append(Leaf(history: history, body: Self.body(copy["body"])))
            }
        }
    }

    /// Adds a local document.
    mutating func add(local id: String, _ body: JSONValue) { locals[id] = body }

    private mutating func add(_ rows: [JSONValue], of id: String) throws {
        let parents = Dictionary(
            rows.map { ($0["rev"]?.string ?? "", $0["parent"]?.string) }, uniquingKeysWith: { first, _ in first })
        let inner = Set(rows.compactMap { $0["parent"]?.string })
        var seen: Set<String> = []
        for row in rows {
            let revision = try #require(row["rev"]?.string)
            guard !inner.contains(revision), seen.insert(revision).inserted else { continue }
            let isDeleted = row["deleted"] == true || row["flags"]?.array?.contains("deleted") == true
            // A body that can't be read stands as text.
            if row["body"]?.string != nil || (row["json"] == "null" && !isDeleted) {
                lostRevisions += 1
                continue
            }
            var (history, next) = ([revision], parents[revision] ?? nil)
            while let parent = next { (history, next) = (history + [parent], parents[parent] ?? nil) }
            var leaf = Leaf(history: history, isDeleted: isDeleted, body: Self.body(row["body"]))
            leaf.attachments = Self.blobs(row)
            for attachment in row["attachments"]?.array ?? [] {
                if attachment["bytes"]?.isNull == true {
                    lostAttachments += 1
                } else {
                    leaf.attachments.append(try Self.attachment(attachment))
                }
            }
            leaves[id, default: []].append(leaf)
        }
    }

    private static func attachment(_ json: JSONValue) throws -> Attachment {
        var attachment = Attachment(name: try #require(json["name"]?.string))
        // CouchDB's files call the length before compression so.
        attachment.length = (json["disklength"] ?? json["length"])?.int
        let digest = json["digest"]?.string ?? ""
        if digest.hasPrefix("md5-") { attachment.md5 = digest }
        if digest.hasPrefix("sha1-") { attachment.sha1 = Base64.decode(digest.dropFirst(5).utf8) }
        if let key = json["key"]?.string { attachment.sha1 = Hexadecimal.decode(key) }
        return attachment
    }

    /// The blobs of a revision of Couchbase Lite, each with its path in the body, digest and length.
    private static func blobs(_ row: JSONValue) -> [Attachment] {
        (row["blobs"]?.array ?? []).map { blob in
            Attachment(
                name: "blob_" + (blob[0]?.string ?? ""), length: blob[2]?.int,
                sha1: Base64.decode((blob[1]?.string ?? "").dropFirst(5).utf8))
        }
    }
}

// MARK: - Answers and Dumps

extension ExpectedDocuments {
    /// Reads a product's own answers to `open_revs=all&revs=true&attachments=true`.
    init(answers json: JSONValue) throws {
        for member in try #require(json.object) {
            for row in try #require(member.value.array) {
                let read = leaf(of: try #require(row["ok"]), hasDigests: true)
                leaves[member.name, default: []].append(read)
            }
        }
    }

    /// Reads the documents of a dump without regard to its form: each object with `_id` that a line, or the whole text, lists.
    init(dumps urls: [URL], lost: Int) throws {
        (lostRevisions, hasPartialHistories) = (lost, true)
        var given: [String: [JSONValue]] = [:]
        for url in urls {
            let input = TextInput(pieces(of: try FixtureFiles.bytes(url), .max))
            var bytes: [UInt8] = []
            while case let piece = try input.read(), !piece.isEmpty { bytes += piece }
            let values = (try? JSONValue(utf8: bytes)).map { [$0] }
            let lines = bytes.split(separator: 10).compactMap { try? JSONValue(utf8: Array($0)) }
            for document in (values ?? lines).flatMap(Self.documents) {
                given[document["_id"]?.string ?? "", default: []].append(document)
            }
        }
        for (id, documents) in given {
            if id.hasPrefix("_local/") {
                locals[id] = Self.body(documents.last)
                continue
            }
            var all: [Leaf] = []
            for document in documents { all.append(leaf(of: document, hasDigests: false)) }
            let inner = Set(all.flatMap { $0.history?.dropFirst() ?? [] })
            var seen: Set<String> = []
            leaves[id] = all.filter { leaf in
                guard let revision = leaf.history?.first else { return true }
                return !inner.contains(revision) && seen.insert(revision).inserted
            }
        }
    }

    /// Documents that become edits, by id.
    init(bodies: [String: JSONValue]) {
        leaves = bodies.mapValues { [Leaf(history: nil, body: $0)] }
    }

    private static func documents(_ value: JSONValue) -> [JSONValue] {
        if let list = value.array { return list.flatMap(documents) }
        if value["_id"] != nil { return [value] }
        for name in ["docs", "rows", "results", "doc"] {
            if let inner = value[name] { return documents(inner) }
        }
        return []
    }

    private mutating func leaf(of given: JSONValue, hasDigests: Bool) -> Leaf {
        let start = given["_revisions"]?["start"]?.int ?? 0
        let path = (given["_revisions"]?["ids"]?.array ?? []).enumerated()
            .map { "\(start - $0.offset)-\($0.element.string ?? "")" }
        var leaf = Leaf(
            history: path.isEmpty ? given["_rev"]?.string.map { [$0] } : path, isDeleted: given["_deleted"] == true,
            body: Self.body(given))
        for member in given["_attachments"]?.object ?? [:] {
            guard let content = member.value["data"]?.string.flatMap({ Base64.decode($0.utf8) }) else {
                lostAttachments += 1
                continue
            }
            var attachment = Attachment(name: member.name, length: content.count, content: content)
            if hasDigests { attachment.md5 = member.value["digest"]?.string }
            leaf.attachments.append(attachment)
        }
        return leaf
    }
}

// MARK: - Comparison

extension ExpectedDocuments {
    /// Compares with a database and with the report of the import.
    func compare(with database: Database, _ report: ImportReport) throws {
        for (name, expected) in leaves { try compare(expected, with: database, name) }
        let counts = try database.info().documents
        if !isPart { #expect(counts.live + counts.deleted == leaves.count) }
        for (name, time) in expirations where leaves[name] != nil {
            let date = try database.expiration(of: try DocumentID(validating: name))
            #expect(date.map { Int(($0.timeIntervalSince1970 * 1000).rounded()) } == time, "\(name)")
        }
        let found = try database.localDocuments()
        #expect(Set(found.map(\.id.string)) == Set(locals.keys))
        for local in found {
            let body = try #require(locals[local.id.string])
            #expect(local.body.json.hasSameMeaning(as: body), "\(local.id)")
        }
        #expect(report.localDocuments == locals.count)
        #expect(report.lostRevisions == lostRevisions, "\(report)")
        #expect(report.lostAttachments == lostAttachments, "\(report)")
    }

    private func compare(_ expected: [Leaf], with database: Database, _ name: String) throws {
        let id = try DocumentID(validating: name)
        let found = try database.leaves(of: id)
        #expect(found.count == expected.count, "\(id)")
        let tree = try #require(try database.tree(of: id), "\(id)")
        var revisions: [(isLive: Bool, revision: RevisionID)] = []
        for leaf in expected {
            guard let history = leaf.history else {
                let document = try #require(found.first)
                let revision = try #require(document.revision)
                #expect(revision.generation == 1, "\(id)")
                revisions.append((true, revision))
                try compare(leaf, with: document, database)
                continue
            }
            let revision = try RevisionID(validating: history[0])
            let document = try #require(found.first { $0.revision == revision }, "\(id) \(revision)")
            var (path, next) = ([revision], tree.parent(of: revision))
            while let parent = next { (path, next) = (path + [parent], tree.parent(of: parent)) }
            let known = hasPartialHistories ? path.prefix(history.count) : path[...]
            #expect(known.map(\.description) == history, "\(id)")
            try compare(leaf, with: document, database)
            revisions.append((!leaf.isDeleted, revision))
        }
        // CouchDB's rule: leaves that are not deleted win, then the highest generation, then the highest signature.
        let live = revisions.filter(\.isLive)
        let best = (live.isEmpty ? revisions : live).map(\.revision).max()
        #expect(tree.winner?.revision == best, "\(id)")
        #expect(tree.isDeleted == live.isEmpty, "\(id)")
        #expect(try database.document(id)?.revision == (live.isEmpty ? nil : best), "\(id)")
    }

    private func compare(_ leaf: Leaf, with document: Document, _ database: Database) throws {
        let name = "\(document.id) \(document.revision?.description ?? "")"
        #expect(document.isDeleted == leaf.isDeleted, "\(name)")
        let body = try document.body()
        #expect(body.json.hasSameMeaning(as: leaf.body), "\(name) is \(body.json)")
        #expect(Set(document.attachments.map(\.name)) == Set(leaf.attachments.map(\.name)), "\(name)")
        for expected in leaf.attachments {
            let attachment = try #require(document.attachment(expected.name), "\(name)")
            if let length = expected.length { #expect(Int(attachment.length) == length, "\(name) \(expected.name)") }
            if let md5 = expected.md5 { #expect(attachment.digest.description == md5, "\(name) \(expected.name)") }
            let stored = try database.attachmentReader(for: attachment, encoded: true).readAll()
            if let sha1 = expected.sha1 { #expect(SHA1.hash(stored) == sha1, "\(name) \(expected.name)") }
            let plain = try database.content(of: attachment)
            #expect(plain.count == Int(attachment.length), "\(name) \(expected.name)")
            if let content = expected.content { #expect(plain == content, "\(name) \(expected.name)") }
        }
    }
}
