internal import Settle

/// `settle put`: saves a document.
enum PutVerb: Verb {
    static let guide = Guide(
        "put", "save a document, and write its new revision",
        discussion: """
            A document that is there already is an edit of the revision given by --rev, or by the _rev of the JSON; if that \
            is not what is stored any more, nothing is written and the exit code is 4. Attachments stay as they are \
            unless the JSON has _attachments. Documents whose ids start with _local/ never leave their database.
            """,
        operands: [
            .database, .document,
            Operand("JSON", isOptional: true, "the document; @FILE reads a file, - or nothing reads standard input"),
        ],
        options: [
            Option("--rev", value: "REV", "the revision this is an edit of"),
            Option("--force", "write on top of whatever is stored: the last write wins"),
            Option("--allow-conflict", "let --rev be any revision: if it was edited already, this begins a branch"),
        ],
        examples: [
            Guide.Example(#"settle put groceries milk '{"name": "Milk"}'"#, "saves a new document"),
            Guide.Example(
                #"rev=$(settle put groceries tea '{"name": "Tea"}')"#, "keeps the revision for the next edit"),
            Guide.Example("settle put groceries milk @milk.json", "saves what `get` wrote, after a change"),
            Guide.Example(
                #"settle put groceries tea '{"name": "Chai"}' --rev "$rev" --allow-conflict"#,
                "makes the conflict that two devices would"),
        ],
        json: #"{"ok":true,"id":…,"rev":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let id = try invocation.documentID()
        try arguments.refuse("--force", with: "--allow-conflict")
        try arguments.refuse("--force", with: "--rev")
        let given = try GivenDocument(try bytes(invocation), id: id)
        let revision = try invocation.revision() ?? (arguments.flag("--force") ? nil : given.revision)
        if arguments.flag("--allow-conflict"), revision == nil {
            throw CommandError.usage("--allow-conflict needs --rev", verb: "put")
        }
        let written = try invocation.retrying(arguments.flag("--force")) {
            try invocation.withDocument(id, at: revision.map { [$0] } ?? []) { place in
                if id.isLocal { return try place.saveLocalDocument(id, given.body) }
                return try write(id, given, revision, in: place, arguments)?.description ?? ""
            }
        }
        try invocation.print(id, written)
        return .success
    }

    private static func write(
        _ id: DocumentID, _ given: GivenDocument, _ revision: RevisionID?, in place: DocumentPlace,
        _ arguments: Arguments
    ) throws -> RevisionID? {
        let database = place.database
        if arguments.flag("--allow-conflict"), let revision {
            let written = try database.transaction { try branch(id, given, on: revision, in: database) }
            try place.commitRevisions(of: id)
            return written
        }
        let saved = try database.transaction {
            if arguments.flag("--force") { return try overwrite(id, given, in: database) }
            guard let revision else { return try create(id, given, in: database) }
            let document = try Invocation.document(id, at: revision, in: database)
            return try database.save(given.applied(to: document, in: database), onConflict: .fail)
        }
        return try place.commit(saved)
    }

    private static func bytes(_ invocation: Invocation) throws -> [UInt8] {
        let text = invocation.arguments.optionalOperand("JSON") ?? "-"
        if text.hasPrefix("@") { return try ByteInput.open(String(text.dropFirst())).readAll() }
        guard text == "-" else { return Array(text.utf8) }
        let input = ByteInput()
        if input.isTerminal { invocation.console.complain("Type the document, then Ctrl-D.", json: [:]) }
        return try input.readAll()
    }

    private static func create(
        _ id: DocumentID, _ given: GivenDocument, in database: Database
    ) throws -> Document {
        if let winner = try database.tree(of: id)?.winner, !winner.isDeleted {
            throw Invocation.conflict("\"\(id)\" is there already", winner.revision)
        }
        return try database.save(given.applied(to: Document(id: id), in: database), onConflict: .fail)
    }

    private static func overwrite(
        _ id: DocumentID, _ given: GivenDocument, in database: Database
    ) throws -> Document {
        let document = try database.document(id) ?? Document(id: id)
        return try database.save(given.applied(to: document, in: database), onConflict: .lastWriteWins)
    }

    /// Saves an edit of any known revision, so that it may begin a branch.
    private static func branch(
        _ id: DocumentID, _ given: GivenDocument, on parent: RevisionID, in database: Database
    ) throws -> RevisionID? {
        guard try database.tree(of: id)?.contains(parent) == true else {
            throw CommandError.notFound("there is no revision \(parent) of \"\(id)\" to begin a branch on")
        }
        // The content of an old revision may be gone, and nothing of it is needed.
        let before =
            try database.document(id, revision: parent)
            ?? Document(id: id, revision: parent, isDeleted: false, RevisionContent(body: .empty, attachments: []))
        return try database.save(given.applied(to: before, in: database), onConflict: .branch).revision
    }
}
