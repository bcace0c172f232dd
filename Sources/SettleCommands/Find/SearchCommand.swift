internal import Settle

/// `settle search`: full-text search.
enum SearchCommand: Command {
    /// The tokenizers.
    enum Words: String, CaseIterable {
        case words, english, trigrams
    }

    static let spec = CommandSpec(
        "search", "find documents by full-text search",
        discussion: """
            The best matches come first, with snippets. All given words must match; AND, OR, NOT (or -) and \
            parentheses combine them. cat* is a prefix, "old books" is a phrase, "old books"~5 allows up to five words \
            in between, and title:cat is a word in a field of --in. Case and accents are ignored. The index is stored \
            beside the database and updated first; there is one, which another --in or --words replaces.
            A server needs a text index there (settle index create URL --text), and its syntax differs slightly: any \
            of the given words may match. It returns no snippets, so the beginning of the document is shown.
            """,
        operands: [.database, Operand("TEXT", "the words to search for")],
        options: [
            Option(
                "--in", value: "FIELDS", "only in these fields, separated by commas: title,author.name (default all)"),
            Option("--words", value: "KIND", "words, english (stemmed), or trigrams (parts of words too)"),
            Option("--use-index", value: "DESIGN[/NAME]", "of a URL: required if there are several text indexes"),
            Option("--limit", value: "N", "print at most N documents (default 20)"),
            Option("--skip", value: "N", "skip N documents"),
            Option("--count", "only the number of documents"),
            Option("--ids", "only their ids"),
        ],
        examples: [
            CommandSpec.Example("settle search library 'catalogue AND deb*'", "in all texts of the documents"),
            CommandSpec.Example(
                #"settle search library 'title:"old books" -atlas' --in title,summary"#, "in two fields"),
            CommandSpec.Example("settle search library milk --json --limit 100", "the first hundred, for a script"),
        ],
        json: """
            one line each: {"id":…,"score":number,"snippets":[{"field":…,"parts":[{"text":…,"match":bool} …]} …]}, without \
            "field" where all texts are searched; of a URL {"id":…,"doc":…}; under --count {"count":N}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        for option in ["--limit", "--skip", "--ids"] { try arguments.refuse("--count", with: option) }
        if let remote = try invocation.remote() {
            try ServerSearch(client: remote, invocation: invocation).run()
            return .success
        }
        if arguments.isGiven("--use-index") {
            throw CommandError.usage(
                "--use-index is for URLs; a folder has one index, by --in and --words", verb: "search")
        }
        let text = try arguments.operand("TEXT")
        let limit = try arguments.count("--limit") ?? 20
        let skip = try arguments.count("--skip") ?? 0
        let fields = (arguments.text("--in") ?? "").split(separator: ",").map {
            TextIndexField(String($0).trimmingPrefix { $0 == " " }.description)
        }
        let index = TextIndex(
            "settle search", fields: fields, tokenizer: tokenizer(try arguments.choice("--words", Words.words)))
        let console = invocation.console
        try invocation.withDatabase { database in
            // The search is parsed before the index is built, so that its errors come first.
            try index.check(text)
            try build(index, of: database, console)
            if arguments.flag("--count") {
                let count = try database.count(of: text, in: index)
                return try console.print(String(count), json: ["count": .number(JSONNumber(count))])
            }
            let isShort = arguments.flag("--ids")
            let matches = try database.search(
                text, in: index, limit: limit, skip: skip, snippetLength: isShort ? nil : 16)
            for match in matches { try write(match, isShort: isShort, console) }
            if matches.isEmpty { try console.printNote("Nothing found") }
        }
        return .success
    }

    private static func tokenizer(_ words: Words) -> TextTokenizer {
        switch words {
        case .words: .words
        case .english: .english
        case .trigrams: .trigrams
        }
    }

    private static func build(_ index: TextIndex, of database: Database, _ console: Console) throws {
        Interruption.watch()
        try ProgressBar.indexing(console) { try index.rows(in: database).update(from: database, report: $0) }
    }

    private static func write(_ match: TextMatch, isShort: Bool, _ console: Console) throws {
        if console.isJSON { return try console.print(json(match).description) }
        if isShort { return try console.print(match.id.string) }
        try console.print(console.styled(TextWidth.harmless(match.id.string), .bold))
        for snippet in match.snippets {
            let text = snippet.parts.map { part in
                let plain = TextWidth.harmless(part.text.replacing("\n", with: " "))
                guard part.isMatch else { return plain }
                return console.terminal.hasColours ? console.styled(plain, .red) : "[\(plain)]"
            }
            try console.print("    " + (snippet.field.map { "\($0): " } ?? "") + text.joined())
        }
    }

    private static func json(_ match: TextMatch) -> JSONValue {
        let snippets = match.snippets.map { snippet in
            let parts = snippet.parts.map { part -> JSONValue in
                ["text": .string(part.text), "match": .bool(part.isMatch)]
            }
            var line: JSONValue = [:]
            line["field"] = snippet.field.map { .string($0) }
            line["parts"] = .array(parts)
            return line
        }
        return [
            "id": .string(match.id.string), "score": .number(JSONNumber(match.score) ?? JSONNumber(0)),
            "snippets": .array(snippets),
        ]
    }
}

// MARK: - ServerSearch

/// A full-text search at a server, in a text index of a design document there.
struct ServerSearch {
    let client: Client
    let invocation: Invocation

    /// Searches, and prints the results.
    func run() throws {
        let (arguments, console) = (invocation.arguments, invocation.console)
        for option in ["--in", "--words"] where arguments.isGiven(option) {
            throw CommandError.usage(
                "\(option) is for folders; at a server the index determines fields and analyzer", verb: "search")
        }
        let (isCounting, isShort) = (arguments.flag("--count"), arguments.flag("--ids"))
        var request: JSONObject = [
            "selector": ["$text": .string(try arguments.operand("TEXT"))],
            "limit": .number(JSONNumber(isCounting ? Int(Int32.max) : try arguments.count("--limit") ?? 20)),
        ]
        request["skip"] = try arguments.count("--skip").map { .number(JSONNumber($0)) }
        request["use_index"] = FindQuery.index(arguments)
        if isCounting || isShort { request["fields"] = ["_id"] }
        try check(request)
        var count = 0
        _ = try client.find(request) { text in
            count += 1
            if !isCounting { try write(JSONValue(utf8: text), isShort: isShort) }
            return true
        }
        if isCounting { return try console.print(String(count), json: ["count": .number(JSONNumber(count))]) }
        if count == 0 { try console.printNote("Nothing found") }
    }

    /// Checks that a text index exists, because without one CouchDB returns all documents.
    private func check(_ request: JSONObject) throws {
        let plan: JSONValue
        do { plan = try client.explain(request) } catch let error as CommandError where error.code == "not_supported" {
            throw missing
        }
        guard let type = plan["index"]?["type"]?.string, ["text", "nouveau"].contains(type) else { throw missing }
    }

    private var missing: CommandError {
        CommandError(
            "no_usable_index",
            "\(client.name) has no text index; `settle index create \(client.name) --text` creates one",
            status: .refused)
    }

    private func write(_ document: JSONValue, isShort: Bool) throws {
        let console = invocation.console
        let id = document["_id"]?.string ?? ""
        if console.isJSON {
            let line: JSONValue = isShort ? ["id": .string(id)] : ["id": .string(id), "doc": document]
            return try console.print(line.description)
        }
        if isShort { return try console.print(id) }
        try console.print(console.styled(TextWidth.harmless(id), .bold))
        let members = (document.object ?? JSONObject()).filter { !["_id", "_rev", "_attachments"].contains($0.name) }
        let text = members.map { "\($0.name): \($0.value.string ?? $0.value.description)" }.joined(separator: ", ")
        let line = Grid.wrapped(text.replacing("\n", with: " "), width: max(console.width - 4, 8), limit: 1)
        try console.print("    " + line.joined())
    }
}
