internal import RevisionTree
package import SettleDatabase
internal import SettlePlatform

/// Which texts of documents are searched, and how they are taken apart into words.
///
///     let books = TextIndex("books", fields: [TextField("title", weight: 5), "summary"])
///     for match in try database.search("catalogue AND deb*", in: books) {
///         print(match.id, match.snippets.first?.marked() ?? "")
///     }
///
/// The words lie in a file beside the database, as the rows of views do, and follow it: a search brings the file up to date
/// first, which takes as long as there are changes since the last one. Of a document with conflicts the winner is searched;
/// deleted documents and design documents are not.
///
/// Nothing has a version to raise: an index of other fields or of another tokenizer is another one, and the file of the old
/// one goes when the new one is first asked for.
///
/// A database answers by `search(_:in:limit:skip:snippetLength:)`, `count(of:in:)` and
/// `observe(_:in:limit:)`.
public struct TextIndex: Sendable, Hashable {
    /// The name, which no other search index of the database has; up to 100 bytes.
    public let name: String
    /// The members that are searched; none for all texts of a document.
    public let fields: [TextField]
    /// How texts are taken apart.
    public let tokenizer: TextTokenizer
    /// Whether all texts of a document together are searched where a word is not asked for in a field of its own.
    let hasDefaultColumn: Bool
    /// Which documents are in it; `nil` for all.
    let filter: Selector?
    /// Whether a design document defines it, which may be removed with all its file depends on.
    let isDesigned: Bool

    /// Makes an index of an app's own.
    ///
    /// - Parameters:
    ///   - name: Its name, which no other search index of the database has.
    ///   - fields: The members that are searched; all texts of a document unless given.
    ///   - tokenizer: How texts are taken apart; letters and digits, without accents, unless given.
    public init(_ name: String, fields: [TextField] = [], tokenizer: TextTokenizer = .words) {
        self.init(
            name: name, fields: fields, tokenizer: tokenizer, hasDefaultColumn: fields.isEmpty, filter: nil,
            isDesigned: false)
    }

    init(
        name: String, fields: [TextField], tokenizer: TextTokenizer, hasDefaultColumn: Bool, filter: Selector?,
        isDesigned: Bool
    ) {
        self.name = name
        self.fields = fields
        self.tokenizer = tokenizer
        self.hasDefaultColumn = hasDefaultColumn
        self.filter = filter
        self.isDesigned = isDesigned
    }

    /// Sees that a search can be understood, without making it.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`; the message says where and why.
    public func check(_ text: String) throws { _ = try TextParser.parse(text, in: self) }

    /// How much a word counts in each column: that of all texts, if there is one, then the fields.
    var weights: [Double] { (hasDefaultColumn ? [1] : []) + fields.map { $0.weight.isFinite ? $0.weight : 1 } }

    /// What the name of the files of design documents' indexes begins with.
    package static let filePrefix = "text-"

    /// The name of the file, which says what is in it.
    package var fileName: String {
        let parts: JSON = [
            "columns": .array(fields.map { .string($0.path) }), "default": .bool(hasDefaultColumn),
            "tokenizer": .string(tokenizer.specification), "filter": filter?.json ?? .null,
        ]
        let hash = MD5()
        hash.update(parts.utf8)
        let signature = Hexadecimal.encode(hash.finish())
        return isDesigned
            ? Self.filePrefix + signature : "app-text-\(Hexadecimal.encode(name.utf8.prefix(100)))-\(signature)"
    }

    /// Where its words are. What an app had under this name before is removed when it is first asked for.
    package func rows(in database: Database) throws -> TextRows {
        let folder = IndexFolder.of(database)
        let file = fileName
        if !isDesigned, folder.isNew(file) {
            let prefix = "app-text-\(Hexadecimal.encode(name.utf8.prefix(100)))-"
            folder.remove { $0.hasPrefix(prefix) && $0 != file }
        }
        return try folder.index(file) { TextRows(at: $0, self) }
    }
}
