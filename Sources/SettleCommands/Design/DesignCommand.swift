internal import Settle

/// `settle design`: manages design documents.
enum DesignCommand: Command {
    /// The actions of the command.
    enum Action: String, CaseIterable {
        case list, push, pull, info, build
    }

    static let spec = CommandSpec(
        "design", "list design documents, push and pull them as folders, build their views",
        discussion: """
            A design document is a folder of files, in couchapp's layout: views/NAME/map.js and reduce.js, \
            filters/NAME.js, updates/NAME.js, validate_doc_update.js, modules such as lib/NAME.js or views/lib/NAME.js \
            for require, and anything else as NAME.json. Its name is in the file `_id`, or is that of the folder.
            push stores the folder's files, if they have changed. An error in a script that a server runs is reported \
            with its file and line before anything is stored; functions for other programs, in nouveau/, indexes/, \
            fulltext/, evently/, shows/ or lists/, are stored as they are. In folders such as evently/ or templates/ all \
            files of text are members. Members without a file are removed; attachments stay.
            pull writes the files of a design document. --force allows a folder that has files: those with the same \
            names are replaced, and files of stale members, which the document does not have, are removed, but only if \
            the file `_id` of the folder names the document. Other files stay.
            info shows the size of its index and whether it is up to date, and build updates it. A server builds the \
            views of a folder in the same files.
            """,
        operands: [
            .action(Action.self), .database,
            Operand("NAME", isOptional: true, "the design document; to push, the folder"),
            Operand("DIR", isOptional: true, "to pull: the folder to write (default NAME)"),
        ],
        options: [
            Option("--name", value: "NAME", "to push: the design document (default: the name of the folder)"),
            Option("--dry-run", "to push: show the changes without storing them"),
            Option("--force", "to pull: allow a folder that has files, and remove those of stale members"),
        ],
        examples: [
            CommandSpec.Example("settle design list groceries", "lists the design documents with their functions"),
            CommandSpec.Example(
                "settle design push groceries ./shop --dry-run", "shows what would change in _design/shop"),
            CommandSpec.Example(
                "settle design push https://anna@couch.example/groceries ./shop", "stores it at a server"),
            CommandSpec.Example("settle design pull groceries shop ./shop", "writes it back to a folder"),
            CommandSpec.Example("settle design build groceries shop", "updates its views"),
        ],
        json: """
            of list, one line each: {"id":…,"rev":…,"language":…,"views":[…],"filters":[…],"updates":[…],"indexes":[…],\
            "validates":bool}; of push {"ok":true,"id":…,"rev":…,"added":[…],"changed":[…],"removed":[…]}; of pull \
            {"ok":true,"id":…,"rev":…,"files":[…],"removed":[…]}; of info and build {"id":…,"rev":…,"up_to_date":bool,\
            "pending":N,"size":N,"signature":…}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let action = try invocation.arguments.action(Action.self)
        try check(invocation.arguments, action)
        switch action {
        case .list: try list(invocation)
        case .push: try DesignPush(invocation: invocation, folder: DesignFolder(try name(invocation))).run()
        case .pull: try pull(invocation)
        case .info: try info(invocation, builds: false)
        case .build: try info(invocation, builds: true)
        }
        return .success
    }

    /// Refuses options and words that the action does not take.
    private static func check(_ arguments: Arguments, _ action: Action) throws {
        let fitting: [(option: String, action: Action)] = [("--name", .push), ("--dry-run", .push), ("--force", .pull)]
        for (option, taker) in fitting where arguments.isGiven(option) && action != taker {
            throw CommandError.usage("\(option) is for \(taker.rawValue), not for \(action.rawValue)", verb: spec.name)
        }
        let surplus: String? =
            switch action {
            case .list: arguments.optionalOperand("NAME")
            case .pull: nil
            case .push, .info, .build: arguments.optionalOperand("DIR")
            }
        if let surplus { throw CommandError.usage("\"\(surplus)\" is an unexpected argument", verb: spec.name) }
    }

    private static func name(_ invocation: Invocation) throws -> String {
        guard let name = invocation.arguments.optionalOperand("NAME"), !name.isEmpty else {
            throw CommandError.usage("NAME is missing", verb: spec.name)
        }
        return name
    }

    private static func list(_ invocation: Invocation) throws {
        var count = 0
        func write(_ document: Document) throws -> Bool {
            count += 1
            let summary = DesignSummary(document)
            let console = invocation.console
            let line = "\(Columns.padded(document.id.string))  \(summary.text)"
            try console.print(line, json: summary.json)
            return true
        }
        var range = DocumentRange()
        range.from = DocumentID(unchecked: "_design/")
        range.through = DocumentID(unchecked: "_design/\u{10FFFF}\u{10FFFF}")
        try invocation.withClient { try $0.forEachDocument(in: range, limit: .max, withBodies: true, write) }
        if count == 0 { try invocation.console.printNote("No design document") }
    }

    private static func pull(_ invocation: Invocation) throws {
        let name = ViewName.designName(try name(invocation))
        let folder = invocation.arguments.optionalOperand("DIR") ?? name
        let id = try DocumentID(validating: "_design/" + name)
        try invocation.withClient { client in
            guard let document = try client.document(id) else { throw missing(id) }
            let files = try DesignFiles(document)
            let removed = try files.write(to: folder, isForced: invocation.arguments.flag("--force"))
            let console = invocation.console
            for attachment in document.attachments {
                try console.printNote(
                    "The attachment \(attachment.name) is not written; `settle get --attachment` writes it")
            }
            let json: JSONValue = [
                "ok": true, "id": .string(id.string), "rev": .string(document.revision?.description ?? ""),
                "files": .array(files.files.map { .string($0.path) }), "removed": .array(removed.map { .string($0) }),
            ]
            if !console.isJSON { for file in removed { try console.printNote("removed \(file)") } }
            try console.print("\(Quantity.of(files.files.count, "file")) in \(folder)", json: json)
        }
    }

    private static func info(_ invocation: Invocation, builds: Bool) throws {
        let name = ViewName.designName(try name(invocation))
        let id = try DocumentID(validating: "_design/" + name)
        try invocation.withClient { client in
            guard let document = try client.document(id) else { throw missing(id) }
            try info(document, client, invocation.console, builds: builds)
        }
    }

    private static func missing(_ id: DocumentID) -> CommandError {
        CommandError.notFound("there is no design document \"\(id)\"")
    }

    private static func info(
        _ document: Document, _ client: Client, _ console: Console, builds: Bool
    ) throws {
        let name = ViewName.designName(document.id.string)
        if builds { try client.buildViews(of: name) }
        let summary = DesignSummary(document)
        let index = try client.viewInfo(name)
        // PouchDB Server does not report this number.
        let pending = index["updates_pending"]?["total"]?.int
        let size = index["sizes"]?["file"]?.int ?? index["disk_size"]?.int
        var json = summary.json
        json["pending"] = pending.map { .number(JSONNumber($0)) }
        json["up_to_date"] = pending.map { .bool($0 == 0) }
        json["size"] = size.map { .number(JSONNumber($0)) }
        json["signature"] = index["signature"]
        var rows = [
            ("Design document", document.id.string), ("Revision", document.revision?.description ?? ""),
            ("Has", summary.text),
        ]
        rows += summary.rows
        if let size { rows.append(("Index", Quantity.bytes(Int64(size)))) }
        if let pending {
            rows.append(("Up to date", pending == 0 ? "yes" : "no, \(Quantity.of(pending, "change")) behind"))
        }
        try console.print(Columns.aligned(rows).joined(separator: "\n"), json: json)
    }
}

// MARK: - DesignSummary

/// A summary of a design document, in one line.
struct DesignSummary {
    let id: DocumentID
    let revision: RevisionID?
    let language: String
    /// The names of the views, filters, update functions and indexes.
    let parts: [(noun: String, names: [String])]
    let isValidating: Bool

    init(_ document: Document) {
        id = document.id
        revision = document.revision
        language = document["language"]?.string ?? "javascript"
        isValidating = document["validate_doc_update"] != nil
        let kinds = [
            ("views", "view"), ("filters", "filter"), ("updates", "update function"), ("indexes", "text index"),
        ]
        parts = kinds.map { member, noun in
            (noun, (document[member]?.object ?? JSONObject()).names.filter { member != "views" || $0 != "lib" })
        }
    }

    /// The names of its functions, by kind.
    var rows: [(String, String)] {
        zip(["Views", "Filters", "Updates", "Text indexes"], parts).filter { !$1.names.isEmpty }
            .map { ($0, $1.names.joined(separator: ", ")) }
    }

    /// The summary as text.
    var text: String {
        var words = parts.filter { !$0.names.isEmpty }.map { part in
            part.noun == "text index" && part.names.count != 1
                ? "\(part.names.count) text indexes" : Quantity.of(part.names.count, part.noun)
        }
        if isValidating { words.append("validation") }
        if language != "javascript" { words.append(language) }
        return words.isEmpty ? "no functions" : words.joined(separator: ", ")
    }

    /// The summary as JSON.
    var json: JSONValue {
        var line: JSONValue = [
            "id": .string(id.string), "rev": .string(revision?.description ?? ""), "language": .string(language),
        ]
        for (name, part) in zip(["views", "filters", "updates", "indexes"], parts) {
            line[name] = .array(part.names.map { .string($0) })
        }
        line["validates"] = .bool(isValidating)
        return line
    }
}
