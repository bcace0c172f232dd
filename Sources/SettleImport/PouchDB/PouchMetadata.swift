package import SettleCore
internal import SettlePlatform

/// What PouchDB's stores have of a document besides its bodies, the value of `document-store`.
///
///     {"id":"a","rev_tree":[{"pos":1,"ids":["0f…",{"status":"available"},[["1e…",{…},[]]]]}],"rev_map":{"1-0f…":7,…},"seq":8,…}
///
/// A tree takes two levels of JSON for each generation, more than a document may have. So it is read with a list of the open
/// levels, and nothing recurses.
package struct PouchMetadata {
    /// What the tree has of a revision.
    struct Entry {
        /// The part of the id after the dash, as spelled.
        let hash: String
        var isDeleted = false
    }

    /// The document's id; `nil` if the text names none.
    private(set) var id: String?
    /// The revisions.
    private(set) var tree = ForeignTree<Entry>()
    /// The sequences of the revisions whose bodies were written, by their ids as spelled.
    private(set) var sequences: [String: UInt64] = [:]
    /// The sequence of the last change.
    private var last: UInt64?

    /// Reads metadata.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged`.
    package init(_ json: [UInt8]) throws {
        do {
            var text = JSONCursor(json)
            try text.members { name, text in
                switch name {
                case "id": id = try text.string()
                case "seq": last = try text.number()
                case "rev_map": try text.members { sequences[$0] = try $1.number() }
                case "rev_tree": try text.elements { try self.readRoot(&$0) }
                default: try text.skip()
                }
            }
        } catch is JSONCursor.Malformed {
            throw ForeignFileError(.damaged, "its revisions can't be read")
        }
    }

    /// The leaves, as places in the tree.
    package var leaves: [Int] { tree.leaves }

    /// The history of a place in the tree.
    package func history(of index: Int) -> RevisionHistory? { tree.history(of: index, limit: 1000) }

    /// The highest sequence of the document.
    var sequence: UInt64 { max(last ?? 0, sequences.values.max() ?? 0) }

    /// The sequence of a revision's body; `nil` if the file has none.
    func sequence(of revision: String) -> UInt64? {
        sequences[revision] ?? (sequences.isEmpty && tree.nodes.count == 1 ? last : nil)
    }

    // MARK: - Tree

    private struct Branch {
        let hash: String
        let parent: Int?
        let depth: UInt64
        var isDeleted = false
    }

    /// Reads one of the trees: an object of the first generation and the branch.
    private mutating func readRoot(_ text: inout JSONCursor) throws {
        var first: UInt64?
        var branches: [Branch] = []
        try text.members { name, text in
            switch name {
            case "pos": first = try text.number()
            case "ids": branches = try Self.branches(&text)
            default: try text.skip()
            }
        }
        guard let first else { throw JSONCursor.Malformed() }
        let start = tree.nodes.count
        for branch in branches {
            let (generation, overflow) = first.addingReportingOverflow(branch.depth)
            guard !overflow, let signature = RevisionSignature(branch.hash),
                let revision = RevisionID(generation: generation, signature: signature)
            else { throw JSONCursor.Malformed() }
            let entry = Entry(hash: branch.hash, isDeleted: branch.isDeleted)
            tree.append(revision, parent: branch.parent.map { start + $0 }, entry)
        }
    }

    /// Reads `[hash, {options}, [children]]`, parents before their children.
    private static func branches(_ text: inout JSONCursor) throws -> [Branch] {
        var branches: [Branch] = []
        // The branches whose lists of children are open.
        var open: [Int] = []
        try text.expect("[")
        while true {
            // After the bracket of a branch.
            let hash = try text.string()
            branches.append(Branch(hash: hash, parent: open.last, depth: UInt64(open.count)))
            try text.expect(",")
            if text.peek() == UInt8(ascii: "{") {
                let index = branches.count - 1
                try text.members { name, text in
                    let isDeletion = name == "deleted" && text.peek() == UInt8(ascii: "t")
                    if isDeletion { branches[index].isDeleted = true }
                    try text.skip()
                }
            } else {
                try text.skip()
            }
            try text.expect(",")
            try text.expect("[")
            open.append(branches.count - 1)
            // Close what ends here, until the next branch begins.
            while true {
                let byte = try text.next()
                if byte == UInt8(ascii: "[") { break }
                if byte == UInt8(ascii: ",") {
                    try text.expect("[")
                    break
                }
                guard byte == UInt8(ascii: "]") else { throw JSONCursor.Malformed() }
                try text.expect("]")
                open.removeLast()
                if open.isEmpty { return branches }
            }
        }
    }
}

// MARK: - Document

extension PouchMetadata {
    /// Reads the document.
    ///
    /// - Parameters:
    ///   - id: The document's id.
    ///   - length: The length of the content with a digest, which old versions of PouchDB don't write into the document.
    ///   - json: The JSON of a revision, named as spelled, with or without `_id` and `_rev`; `nil` if it is not in the file.
    /// - Returns: The document, with its faults.
    /// - Throws: ``ForeignFileError`` with code `inputOutput`; what else is wrong with a revision is a fault of the document.
    func document(
        _ id: DocumentID, length: (String) throws -> Int?, json: (String) throws -> [UInt8]?
    ) throws -> ForeignDocument {
        try tree.document(id: id, sequence: sequence, isDeleted: \.isDeleted) { node in
            try json("\(node.revision.generation)-\(node.content.hash)").map { try Self.content($0, length) }
        }
    }

    /// The MD5 of nothing.
    private static let emptyDigest = "md5-1B2M2Y8AsgTpgAmY7PhCfg=="

    /// Reads the JSON of a revision.
    private static func content(_ json: [UInt8], _ length: (String) throws -> Int?) throws -> ForeignContent {
        let document: WireDocument
        do {
            document = try WireDocument(DocumentReader.read(json, allowsReserved: true), .answer)
        } catch {
            throw ForeignFileError(.damaged, "the body can't be read: \(error)")
        }
        let attachments = try document.attachments.map { attachment in
            let digest = attachment.digest ?? ""
            // An empty content has no record.
            var place: ForeignAttachment.Place = digest == emptyDigest ? .bytes([]) : .key(digest)
            if case .inline(let bytes) = attachment.content { place = .bytes(bytes) }
            let sum = digest.hasPrefix("md5-") ? Base64.decode(digest.utf8.dropFirst(4)) : nil
            return ForeignAttachment(
                name: attachment.name, contentType: attachment.contentType,
                length: try attachment.length ?? Int64(length(digest) ?? 0),
                revpos: attachment.revpos ?? 0, digest: sum.flatMap { $0.count == 16 ? .md5($0) : nil }, place: place)
        }
        return ForeignContent(body: document.body, isDeleted: document.isDeleted, attachments: attachments)
    }

    /// Reads a local document.
    ///
    /// - Returns: The members; `nil` for a checkpoint of a replication and for lists of indexes.
    /// - Throws: ``ForeignFileError`` with code `damaged`.
    static func localBody(_ json: [UInt8], id: String) throws -> DocumentBody? {
        let body: DocumentBody
        do { body = try DocumentReader.read(json, allowsReserved: true).body } catch {
            throw ForeignFileError(.damaged, "it can't be read: \(error)")
        }
        let isIndexList = ["_local/mrviews", "_local/indexes"].contains(id)
        return isIndexList || LocalCheckpoint.isOne(body) ? nil : body
    }
}

// MARK: - LocalCheckpoint

/// Local documents in which a replicator of CouchDB's family notes how far it has come.
enum LocalCheckpoint {
    /// Whether the members are those of a checkpoint.
    static func isOne(_ body: DocumentBody) -> Bool {
        let found = body.members(named: ["last_seq", "source_last_seq", "session_id", "history", "replicator"])
        let hasPosition = found["last_seq"] != nil || found["source_last_seq"] != nil
        guard hasPosition else { return false }
        if found["session_id"] != nil || found["history"] != nil || found["replicator"] != nil { return true }
        // The oldest ones have nothing else.
        return body.json.object?.count == 1
    }
}

// MARK: - JSONCursor

/// Reads through JSON text from front to end, without recursion and at any depth.
struct JSONCursor {
    /// Text that is not the expected JSON.
    struct Malformed: Error {}

    private let text: [UInt8]
    private var position = 0

    /// Begins at the start of a text.
    init(_ text: [UInt8]) { self.text = text }

    /// The next byte that is not white space; 0 at the end.
    mutating func peek() -> UInt8 {
        while position < text.count {
            let byte = text[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return 0
    }

    /// Reads a byte.
    mutating func next() throws -> UInt8 {
        let byte = peek()
        guard position < text.count else { throw Malformed() }
        position += 1
        return byte
    }

    /// Reads a mark.
    mutating func expect(_ mark: Unicode.Scalar) throws {
        guard try next() == UInt8(truncatingIfNeeded: mark.value) else { throw Malformed() }
    }

    /// Reads an object.
    mutating func members(_ read: (String, inout JSONCursor) throws -> Void) throws {
        try expect("{")
        if peek() == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            let name = try string()
            try expect(":")
            try read(name, &self)
            let byte = try next()
            if byte == UInt8(ascii: "}") { return }
            guard byte == UInt8(ascii: ",") else { throw Malformed() }
        }
    }

    /// Reads an array.
    mutating func elements(_ read: (inout JSONCursor) throws -> Void) throws {
        try expect("[")
        if peek() == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            try read(&self)
            let byte = try next()
            if byte == UInt8(ascii: "]") { return }
            guard byte == UInt8(ascii: ",") else { throw Malformed() }
        }
    }

    /// Reads a string.
    mutating func string() throws -> String {
        guard peek() == UInt8(ascii: "\"") else { throw Malformed() }
        let start = position
        let hasEscapes = try skipString()
        guard hasEscapes else { return String(decoding: text[start + 1..<position - 1], as: UTF8.self) }
        guard let string = (try? JSONValue(utf8: Array(text[start..<position])))?.string else { throw Malformed() }
        return string
    }

    /// Reads a number that is not negative and has no fraction.
    mutating func number() throws -> UInt64 {
        _ = peek()
        let start = position
        while position < text.count, !",]} \n\r\t".utf8.contains(text[position]) { position += 1 }
        guard let number = UInt64(String(decoding: text[start..<position], as: UTF8.self)) else { throw Malformed() }
        return number
    }

    /// Skips a value.
    mutating func skip() throws {
        var depth = 0
        repeat {
            switch peek() {
            case 0: throw Malformed()
            case UInt8(ascii: "\""): _ = try skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): position += 1
            default: while position < text.count, !",:]} \n\r\t".utf8.contains(text[position]) { position += 1 }
            }
        } while depth > 0
        guard depth == 0 else { throw Malformed() }
    }

    /// Skips a string.
    ///
    /// - Returns: Whether it has escapes.
    private mutating func skipString() throws -> Bool {
        position += 1
        var hasEscapes = false
        while position < text.count {
            let byte = text[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return hasEscapes }
            guard byte == UInt8(ascii: "\\") else { continue }
            hasEscapes = true
            position += 1
        }
        throw Malformed()
    }
}
