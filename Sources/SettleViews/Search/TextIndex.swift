internal import SettleCore
internal import SettleCrypto
package import SettleDatabase
internal import SettlePlatform
internal import SettleQuery

/// A search index: the document texts to search, and the tokenizer that splits them into words.
///
///     let books = TextIndex("books", fields: [TextIndexField("title", weight: 5), "summary"])
///     for match in try database.search("catalogue AND deb*", in: books) {
///         print(match.id, match.snippets.first?.marked() ?? "")
///     }
///
/// The words are stored in a file beside the database, like the rows of views. A search first updates the file,
/// which takes time proportional to the changes since the last one. In a document with conflicts only the winner is
/// searched; deleted documents and design documents are not searched.
///
/// An index needs no version: an index with other fields or another tokenizer is a new index, and the file of the
/// old one is removed at the first use of the new one.
///
/// A database searches it with `search(_:in:limit:skip:snippetLength:)`, `count(of:in:)` and `observe(_:in:limit:)`.
public struct TextIndex: Sendable, Hashable {
    /// The name, unique among the search indexes of the database; up to 100 bytes.
    public let name: String
    /// The members that are searched; empty for all texts of a document.
    public let fields: [TextIndexField]
    /// The tokenizer of texts.
    public let tokenizer: TextTokenizer
    /// Whether words without a field are searched in all texts of a document together.
    let hasDefaultColumn: Bool
    /// The selector of documents in it; `nil` for all.
    let filter: MangoSelector?
    /// Whether a design document defines it. If not, its first use removes the file of an earlier index with the same name.
    let isDesigned: Bool

    /// Creates an index of an app.
    ///
    /// - Parameters:
    ///   - name: Its name, unique among the search indexes of the database.
    ///   - fields: The members that are searched; by default all texts of a document.
    ///   - tokenizer: The tokenizer; by default letters and digits, without accents.
    public init(_ name: String, fields: [TextIndexField] = [], tokenizer: TextTokenizer = .words) {
        self.init(
            name: name, fields: fields, tokenizer: tokenizer, hasDefaultColumn: fields.isEmpty, filter: nil,
            isDesigned: false)
    }

    init(
        name: String, fields: [TextIndexField], tokenizer: TextTokenizer, hasDefaultColumn: Bool,
        filter: MangoSelector?,
        isDesigned: Bool
    ) {
        self.name = name
        self.fields = fields
        self.tokenizer = tokenizer
        self.hasDefaultColumn = hasDefaultColumn
        self.filter = filter
        self.isDesigned = isDesigned
    }

    /// Checks the syntax of a search without running it.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`; the message says where and why.
    public func check(_ text: String) throws { _ = try TextParser.parse(text, in: self) }

    /// The weight of a word in each column: first the column of all texts, if there is one, then the fields.
    var weights: [Double] { (hasDefaultColumn ? [1] : []) + fields.map { $0.weight.isFinite ? $0.weight : 1 } }

    /// The prefix of file names for design documents' indexes.
    package static let filePrefix = "text-"

    /// The name of the file, which identifies its content.
    package var fileName: String {
        let parts: JSONValue = [
            "columns": .array(fields.map { .string($0.path) }), "default": .bool(hasDefaultColumn),
            "tokenizer": .string(tokenizer.specification), "filter": filter?.json ?? .null,
        ]
        let hash = MD5()
        hash.update(parts.utf8)
        let signature = Hexadecimal.encode(hash.finish())
        return isDesigned
            ? Self.filePrefix + signature : "app-text-\(Hexadecimal.encode(name.utf8.prefix(100)))-\(signature)"
    }

    /// The rows, with or without those that only the open transaction sees. The first use removes an app's earlier
    /// index with the same name.
    package func rows(in database: Database, asStored: Bool = false) throws -> TextRows {
        let folder = IndexFolder.of(database)
        let file = fileName
        if !isDesigned, folder.isNew(file) {
            let prefix = "app-text-\(Hexadecimal.encode(name.utf8.prefix(100)))-"
            folder.remove { $0.hasPrefix(prefix) && $0 != file }
        }
        return try folder.index(file, asStored: asStored) { TextRows(at: $0, self) }
    }
}

/// A member of documents that is searched.
///
///     "title"     "author.name"     "chapters.title"     TextIndexField("title", weight: 5)
///
/// Names are separated by dots; `\.` is a dot in a name. A path through an array includes all elements. Strings and
/// numbers at the path, or anywhere below it, are searched.
public struct TextIndexField: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The path.
    public let path: String
    /// The weight of a word in this field; 1 by default.
    public let weight: Double

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - path: The path of its texts.
    ///   - weight: The weight of a word in it, relative to the other fields.
    public init(_ path: String, weight: Double = 1) {
        self.path = path
        self.weight = weight
    }

    /// Creates a field with weight 1.
    public init(stringLiteral path: String) { self.init(path) }
}
