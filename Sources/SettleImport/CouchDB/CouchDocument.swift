internal import SettleCore

/// A document in a `.couch` file: its tree, whose revisions point to their bodies.
///
///     tree:        [{generation, {id, value, [children]}}]      id: 16 bytes, or text
///     value:       {deleted, position, sequence, …}, or [] for a revision without a body
///     body:        {body, attachments}, both compressed again
///     attachment:  {name, type, positions, stored length, length, revpos, MD5, identity | gzip}
struct CouchDocument {
    /// What the tree has of a revision.
    struct Entry {
        let isDeleted: Bool
        /// The position of the body; `nil` if it is missing.
        let position: Int?
    }

    private let file: CouchFile
    private let tree: ForeignTree<Entry>
    /// Added to positions in the file, so that those of several files differ.
    private let base: UInt64

    /// Reads a tree.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged`.
    init(_ tree: StoredTerm, in file: CouchFile, base: UInt64) throws {
        (self.file, self.base) = (file, base)
        guard let read = Self.read(tree) else { throw ForeignFileError(.damaged, "its revisions can't be read") }
        self.tree = read
    }

    private static func read(_ roots: StoredTerm) -> ForeignTree<Entry>? {
        var tree = ForeignTree<Entry>()
        // Nodes that are to be read, with their generations and parents.
        var rest: [(node: StoredTerm, generation: UInt64, parent: Int?)] = []
        guard let list = roots.list else { return nil }
        for root in list {
            guard let root = root.tuple, root.count == 2,
                let generation = root[0].integer.flatMap({ UInt64(exactly: $0) })
            else { return nil }
            rest.append((root[1], generation, nil))
        }
        while let (node, generation, parent) = rest.popLast() {
            guard let fields = node.tuple, fields.count == 3, let id = fields[0].binary, let signature = signature(id),
                let revision = RevisionID(generation: generation, signature: signature), let entry = entry(fields[1]),
                let children = fields[2].list
            else { return nil }
            let index = tree.append(revision, parent: parent, entry)
            for child in children { rest.append((child, generation &+ 1, index)) }
        }
        return tree
    }

    private static func signature(_ id: ArraySlice<UInt8>) -> RevisionSignature? {
        guard id.count == 16 else { return RevisionSignature(String(decoding: id, as: UTF8.self)) }
        let high = id.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return RevisionSignature(high: high, low: id.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private static func entry(_ value: StoredTerm) -> Entry? {
        if value.list?.isEmpty == true { return Entry(isDeleted: false, position: nil) }
        guard let fields = value.tuple, fields.count >= 3 else { return nil }
        let isDeleted = fields[0].integer == 1 || fields[0].atom == "true"
        return Entry(isDeleted: isDeleted, position: fields[1].integer)
    }

    /// Reads the document.
    ///
    /// - Throws: ``ForeignFileError`` with code `inputOutput`; what else is wrong with a revision is a fault of the document.
    func document(_ id: DocumentID, sequence: UInt64) throws -> ForeignDocument {
        try tree.document(id: id, sequence: sequence, isDeleted: \.isDeleted) { node in
            guard let position = node.content.position else { return nil }
            return try content(at: position, isDeleted: node.content.isDeleted)
        }
    }

    private func content(at position: Int, isDeleted: Bool) throws -> ForeignContent {
        let damaged = ForeignFileError(.damaged, "the body can't be read")
        guard let parts = try file.term(at: position).tuple, parts.count >= 2,
            let body = Self.body(parts[0]), let attachments = Self.expanded(parts[1])?.list
        else { throw damaged }
        return ForeignContent(body: body, isDeleted: isDeleted, attachments: try attachments.map(attachment))
    }

    /// A term, or the term whose compressed bytes a binary is.
    private static func expanded(_ term: StoredTerm) -> StoredTerm? {
        term.binary.map { StoredTerm(Array($0)) } ?? term
    }

    /// The members of a body, compressed or not.
    static func body(_ term: StoredTerm) -> DocumentBody? {
        let json: [UInt8]?
        if let binary = term.binary {
            json = StoredTerm.expand(Array(binary)).flatMap { TermJSON.text($0) }
        } else {
            json = TermJSON.text(term.text, at: term.start)
        }
        return json.flatMap { try? DocumentReader.read($0, allowsReserved: true).body }
    }

    private func attachment(_ term: StoredTerm) throws -> ForeignAttachment {
        // A pair of an attachment and more of its members.
        var fields = term.tuple ?? []
        if fields.count == 2, let inner = fields[0].tuple { fields = inner }
        let isShort = fields.count == 6
        guard isShort || fields.count >= 8, let name = fields[0].binary, let type = fields[1].binary,
            let places = Self.positions(fields[2]), let length = fields[isShort ? 3 : 4].integer,
            let revpos = fields[isShort ? 4 : 5].integer.flatMap({ UInt64(exactly: $0) }),
            let md5 = fields[isShort ? 5 : 6].binary, length >= 0, places.allSatisfy({ $0 >= 0 && $0 < 1 << 48 })
        else { throw ForeignFileError(.damaged, "an attachment can't be read") }
        let isGzip = !isShort && (fields[7].atom == "gzip" || fields[7].atom == "true")
        return ForeignAttachment(
            name: String(decoding: name, as: UTF8.self), contentType: String(decoding: type, as: UTF8.self),
            length: Int64(length), revpos: revpos, digest: md5.count == 16 ? .md5(Array(md5)) : nil, isGzip: isGzip,
            place: .chunks(places.map { base | UInt64($0) }))
    }

    /// The positions of the chunks, which may have their lengths with them.
    private static func positions(_ term: StoredTerm) -> [Int]? {
        if let integers = term.integers { return integers }
        guard let list = term.list else { return nil }
        let positions = list.compactMap { $0.integer ?? $0.tuple?.first?.integer }
        return positions.count == list.count ? positions : nil
    }
}
