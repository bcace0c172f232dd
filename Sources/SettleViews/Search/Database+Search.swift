public import SettleDatabase

extension Database {
    /// Finds the documents whose texts have some words, those that fit best first.
    ///
    ///     try database.search("catalogue AND deb*", in: books)
    ///     try database.search("title:(sofa OR couch) -leather \"good as new\"", in: offers, limit: 20, skip: 20)
    ///
    /// Words side by side are all wanted; `AND`, `OR`, `NOT` (or `-`) and parentheses say otherwise. `deb*` is the beginning of a
    /// word, quotes hold words that follow each other, `"old books"~5` those with five others between them at the most, and a
    /// name with a colon is a field of the index. `\` takes from a sign what it means. For what a person is just typing
    /// there is ``TextIndex/typed(_:)``.
    ///
    /// - Parameters:
    ///   - text: What is looked for.
    ///   - index: What is searched; it is brought up to date first.
    ///   - limit: How many documents at the most.
    ///   - skip: How many to pass over, for the pages behind the first.
    ///   - snippetLength: How many words of text around what was found are shown, from 1 to 64; `nil` for none, which is quicker.
    /// - Returns: The documents; those that fit as well as each other by their ids.
    /// - Throws: ``DatabaseError`` with code `invalid` for a search that can't be understood; the message says where and why.
    /// - Complexity: O(*m* log *m*) for *m* documents with the words, whatever the limit is, and what there is to bring in.
    public func search(
        _ text: String, in index: TextIndex, limit: Int = 25, skip: Int = 0, snippetLength: Int? = 16
    ) throws -> [TextMatch] {
        let expression = try TextParser.parse(text, in: index).fts5
        let rows = try index.rows(in: self)
        try rows.update(from: self)
        return try rows.read { try $0.matches(expression, in: index, limit: limit, skip: skip, words: snippetLength) }
    }

    /// How many documents a search finds.
    ///
    /// - Throws: As ``search(_:in:limit:skip:snippetLength:)`` does.
    public func count(of text: String, in index: TextIndex) throws -> Int {
        let expression = try TextParser.parse(text, in: index).fts5
        let rows = try index.rows(in: self)
        try rows.update(from: self)
        return try rows.read { try $0.count(expression) }
    }

    /// Observes what a search finds: first as it is, then whenever it is something else.
    ///
    /// - Parameters:
    ///   - text: What is looked for.
    ///   - index: What is searched.
    ///   - limit: How many documents at the most.
    /// - Returns: The matches, each time all of them, without end.
    public func observe(_ text: String, in index: TextIndex, limit: Int = 25) -> TextObservation {
        TextObservation(database: self, text: text, index: index, limit: limit)
    }
}

extension TextReader {
    /// What an expression finds, as an app sees it.
    func matches(
        _ expression: String, in index: TextIndex, limit: Int, skip: Int, words: Int?
    ) throws -> [TextMatch] {
        guard limit > 0 else { return [] }
        return try rows(expression, skip: max(skip, 0), limit: limit, words: words.map { min(max($0, 1), 64) })
            .map { TextMatch($0, in: index) }
    }
}

extension TextIndex {
    /// A search for what a person has typed so far: all words, of the last one the beginning. No sign means anything.
    ///
    ///     TextIndex.typed("old bo")        // "old" "bo"*
    ///
    /// - Returns: The search; empty when there is nothing to look for yet.
    public static func typed(_ text: String) -> String {
        let words = text.split { !$0.isLetter && !$0.isNumber }.map { "\"\($0)\"" }
        return words.isEmpty ? "" : words.joined(separator: " ") + "*"
    }
}
