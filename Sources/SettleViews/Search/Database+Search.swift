public import SettleDatabase

extension Database {
    /// Finds documents by the words in their texts, most relevant first.
    ///
    ///     try database.search("catalogue AND deb*", in: books)
    ///     try database.search("title:(sofa OR couch) -leather \"good as new\"", in: offers, limit: 20, skip: 20)
    ///
    /// Adjacent words must all match; `AND`, `OR`, `NOT` (or `-`) and parentheses combine them in other ways.
    /// `deb*` matches a prefix, quotes contain consecutive words, `"old books"~5` matches the words with up to five
    /// words between them, and a name with a colon is a field of the index. `\` escapes a special character. A part
    /// without a word, such as a dash between two words, is ignored. For text that a user types see
    /// ``TextIndex/typed(_:)``.
    ///
    /// - Parameters:
    ///   - text: The search.
    ///   - index: The index to search; it is updated first.
    ///   - limit: The maximum number of documents.
    ///   - skip: The number of documents to skip, for later pages.
    ///   - snippetLength: The number of words in a snippet, from 1 to 64; `nil` for no snippets, which is faster.
    /// - Returns: The documents; equally relevant ones are ordered by id.
    /// - Throws: ``DatabaseError`` with code `invalid` for an invalid search; the message says where and why.
    /// - Complexity: O(*m* log *m*) for *m* matching documents, regardless of the limit, plus the update of the
    ///   index.
    public func search(
        _ text: String, in index: TextIndex, limit: Int = 25, skip: Int = 0, snippetLength: Int? = 16
    ) throws -> [TextMatch] {
        let expression = try TextParser.parse(text, in: index).fts5
        let rows = try index.rows(in: self)
        try rows.update(from: self)
        return try rows.read { try $0.matches(expression, in: index, limit: limit, skip: skip, words: snippetLength) }
    }

    /// Counts the documents that match a search.
    ///
    /// - Throws: As ``search(_:in:limit:skip:snippetLength:)`` does.
    public func count(of text: String, in index: TextIndex) throws -> Int {
        let expression = try TextParser.parse(text, in: index).fts5
        let rows = try index.rows(in: self)
        try rows.update(from: self)
        return try rows.read { try $0.count(expression) }
    }

    /// Observes a search as a live query: its current matches first, then after each change of them.
    ///
    /// - Parameters:
    ///   - text: The search.
    ///   - index: The index to search.
    ///   - limit: The maximum number of documents.
    /// - Returns: An endless sequence of the full matches.
    public func observe(_ text: String, in index: TextIndex, limit: Int = 25) -> TextObservation {
        TextObservation(database: self, text: text, index: index, limit: limit)
    }
}

extension TextReader {
    /// The matches of an expression, in the form for apps.
    func matches(
        _ expression: String, in index: TextIndex, limit: Int, skip: Int, words: Int?
    ) throws -> [TextMatch] {
        guard limit > 0 else { return [] }
        return try rows(expression, skip: max(skip, 0), limit: limit, words: words.map { min(max($0, 1), 64) })
            .map { TextMatch($0, in: index) }
    }
}

extension TextIndex {
    /// A search for the text that a user has typed so far: all its words, the last one as a prefix, without special
    /// characters.
    ///
    ///     TextIndex.typed("old bo")        // "old" "bo"*
    ///
    /// - Returns: The search; empty if there are no words yet.
    public static func typed(_ text: String) -> String {
        let words = text.split { !$0.isLetter && !$0.isNumber }.map { "\"\($0)\"" }
        return words.isEmpty ? "" : words.joined(separator: " ") + "*"
    }
}
