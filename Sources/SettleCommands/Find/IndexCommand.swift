internal import Settle
internal import SettlePlatform

/// `settle index`: manages the indexes of `find`.
enum IndexCommand: Command {
    /// The actions of the command.
    enum Action: String, CaseIterable {
        case list, create, delete, build
    }

    static let spec = CommandSpec(
        "index", "list, create, delete and build the indexes that find uses",
        discussion: """
            An index has a row for each document that has all of its fields, in their order: conditions on the first \
            fields narrow the range to read, and --sort by them requires it. Its definition is part of a design \
            document, as in CouchDB, and replicates; its rows are built by the first query, or by build.
            --where creates a partial index of the matching documents; find uses it only with --use-index.
            NAME is that of an index, DESIGN/NAME if several have it. The default name is derived from the fields.
            """,
        operands: [
            .action(Action.self), .database,
            Operand(
                "NAME", isOptional: true, isRepeatable: true,
                "to create: the paths of its fields; else the index"),
        ],
        options: [
            Option("--name", value: "NAME", "to create: the name of the index"),
            Option("--ddoc", value: "NAME", "to create: the design document to store it in"),
            Option("--descending", "to create: in descending order; find reads an index in both directions anyway"),
            Option(
                "--text", "to create: a full-text index, for search and $text; without fields, of all texts"),
            Option("--analyzer", value: "NAME", "to create --text: the analyzer, such as english"),
            Option("--where", value: "SELECTOR", "to create: only documents that match this SELECTOR of find"),
        ],
        examples: [
            CommandSpec.Example(
                "settle index list people", "the indexes, their sizes, and whether they are up to date"),
            CommandSpec.Example(
                "settle index create people city age --name by-city", "for city = …, and by age in each city"),
            CommandSpec.Example(
                "settle index create people due --where 'done = false' --ddoc open", "find --use-index open uses it"),
            CommandSpec.Example(
                "settle index create people --text --analyzer english", "for settle search at a server, and $text"),
            CommandSpec.Example("settle index build people by-city", "builds it now, not at the first query"),
            CommandSpec.Example(
                "settle index delete https://anna@couch.example/people by-city", "removes it at a server"),
        ],
        json: """
            of list and build, one line each: {"ddoc":…,"name":…,"type":…,"def":{"fields":[…]}}, with "rows", "size" in bytes \
            and "pending" changes where that is known; of create {"result":"created" or "exists","id":…,"name":…}; of delete \
            {"ok":true,"id":…,"name":…}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let action = try invocation.arguments.action(Action.self)
        let ofCreate = ["--name", "--ddoc", "--where", "--descending", "--text", "--analyzer"]
        if let option = ofCreate.first(where: invocation.arguments.isGiven), action != .create {
            throw CommandError.usage("\(option) is for create", verb: spec.name)
        }
        switch action {
        case .list: try list(invocation)
        case .create: try create(invocation)
        case .delete: try delete(invocation)
        case .build: try build(invocation)
        }
        return .success
    }

    private static func list(_ invocation: Invocation) throws {
        if let word = invocation.arguments.operands("NAME").first {
            throw CommandError.usage("\"\(word)\" is an unexpected argument", verb: spec.name)
        }
        try invocation.withClient { client in
            try IndexCommand.Table(invocation.console).write(try client.indexes())
        }
    }

    private static func create(_ invocation: Invocation) throws {
        let arguments = invocation.arguments
        let isText = arguments.flag("--text")
        try arguments.refuse("--text", with: "--descending")
        if !isText, arguments.isGiven("--analyzer") {
            throw CommandError.usage("--analyzer needs --text", verb: spec.name)
        }
        var definition = isText ? try texts(arguments) : try fields(arguments)
        definition["partial_filter_selector"] = try arguments.text("--where").map {
            try FindQuery.SelectorText.selector($0, invocation.console)
        }
        var request: JSONObject = ["index": definition, "type": isText ? "text" : "json"]
        request["name"] = arguments.text("--name").map { .string($0) }
        request["ddoc"] = arguments.text("--ddoc").map { .string(ViewName.designName($0)) }
        try invocation.withClient { client in
            let made = try client.createIndex(request)
            let name = "\(made["name"]?.string ?? "") of \(made["id"]?.string ?? "")"
            try invocation.console.print(
                made["result"] == "exists" ? "\(name) exists already" : "Created \(name)", json: made)
        }
    }

    /// The definition of an index of fields.
    private static func fields(_ arguments: Arguments) throws -> JSONValue {
        let paths = arguments.operands("NAME")
        guard !paths.isEmpty, !paths.contains("") else {
            throw CommandError.usage("give the fields of the index: settle index create DB age", verb: spec.name)
        }
        let isDescending = arguments.flag("--descending")
        let fields = paths.map { isDescending ? .object(JSONObject([($0, "desc")])) : JSONValue.string($0) }
        return ["fields": .array(fields)]
    }

    /// The definition of a text index.
    private static func texts(_ arguments: Arguments) throws -> JSONValue {
        var definition = JSONValue.object(JSONObject())
        let fields = arguments.operands("NAME").map { path -> JSONValue in ["name": .string(path), "type": "string"] }
        if !fields.isEmpty { definition["fields"] = .array(fields) }
        definition["default_field"] = arguments.text("--analyzer").map { ["analyzer": .string($0)] }
        return definition
    }

    private static func delete(_ invocation: Invocation) throws {
        try invocation.withClient { client in
            let index = try named(invocation, client)
            try client.deleteIndex(index)
            let id = index.designDocument ?? ""
            try invocation.console.print(
                "Removed \(index.name) of \(id)", json: ["ok": true, "id": .string(id), "name": .string(index.name)])
        }
    }

    private static func build(_ invocation: Invocation) throws {
        try invocation.withClient { client in
            let wanted =
                invocation.arguments.operands("NAME").isEmpty
                ? try client.indexes().filter { $0.designDocument != nil }
                : [try named(invocation, client)]
            for index in wanted {
                try Interruption.check()
                try client.buildIndex(index)
            }
            let built = try client.indexes().filter { index in
                wanted.contains {
                    $0.name == index.name && $0.type == index.type && $0.designDocument == index.designDocument
                }
            }
            try IndexCommand.Table(invocation.console).write(built)
        }
    }

    /// The index named by `NAME` or `DESIGN/NAME`.
    ///
    /// - Throws: ``CommandError`` with status `notFound`, or `usage` if several have the name.
    private static func named(_ invocation: Invocation, _ client: Client) throws -> NamedIndex {
        let names = invocation.arguments.operands("NAME")
        guard let given = names.first, names.count == 1 else {
            throw CommandError.usage(names.isEmpty ? "NAME is missing" : "give one index", verb: spec.name)
        }
        let all = try client.indexes().filter { $0.designDocument != nil }
        let name = ViewName.designName(given)
        let found = all.filter { $0.name == name || "\($0.designName)/\($0.name)" == name }
        if found.count == 1 { return found[0] }
        guard let first = found.first else {
            let nearest = NearestWord.find(name, in: all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            throw CommandError.notFound("there is no index \"\(given)\"\(nearest)")
        }
        throw CommandError.usage(
            "\(found.count) indexes are called \"\(given)\"; name one, such as \(first.designName)/\(first.name)",
            verb: spec.name)
    }
}

extension IndexCommand {
    /// Prints a list of indexes.
    struct Table {
        private let console: Console

        init(_ console: Console) { self.console = console }

        /// Prints them as lines of JSON or in columns. Columns without values are left out.
        func write(_ indexes: [NamedIndex]) throws {
            if console.isJSON {
                for index in indexes { try console.print(index.json.description) }
                return
            }
            let columns: [(title: String, cell: (NamedIndex) -> String?)] = [
                ("NAME", { $0.name }), ("DESIGN", { $0.designDocument.map(ViewName.designName) }),
                ("TYPE", { $0.type }),
                ("MEMBERS", { $0.order }), ("ONLY WITH", { $0.filter?.description }),
                ("ROWS", { $0.rows.map { Quantity.grouped($0) } }),
                ("SIZE", { $0.size.map { Quantity.bytes(Int64($0)) } }),
                ("UP TO DATE", { $0.pending.map { $0 == 0 ? "yes" : "\(Quantity.of($0, "change")) behind" } }),
            ]
            let shown = columns.filter { column in indexes.contains { column.cell($0) != nil } }
            var table = RowTable(console, titles: shown.map(\.title))
            for index in indexes { try table.add(shown.map { $0.cell(index) ?? "" }) }
            try table.finish()
            if indexes.isEmpty { try console.printNote("No index") }
        }
    }
}
