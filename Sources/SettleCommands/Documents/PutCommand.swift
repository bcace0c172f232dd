internal import Settle
import SettleCore
import SettleDatabase

/// `settle put`: saves a document.
enum PutCommand: Command {
    static let spec = CommandSpec(
        "put", "save a document, and write its new revision",
        discussion: """
            An existing document is edited at the revision given by --rev, or by the _rev of the JSON; if that is not \
            the current revision, nothing is written and the exit code is 4. Attachments are kept unless the JSON has \
            _attachments.
            Documents whose ids start with _local/ never replicate. Of these the last write wins: --rev, --force and \
            --allow-conflict are refused, and a _rev of the JSON is ignored, so that the output of `get` can be saved.
            """,
        operands: [
            .database, .document,
            Operand("JSON", isOptional: true, "the document; @FILE reads a file, - or nothing reads standard input"),
        ],
        options: [
            Option("--rev", value: "REV", "the revision to edit"),
            Option("--force", "edit the current revision: the last write wins"),
            Option("--allow-conflict", "allow any revision for --rev; one that was edited already gets a branch"),
        ],
        examples: [
            CommandSpec.Example(#"settle put groceries milk '{"name": "Milk"}'"#, "saves a new document"),
            CommandSpec.Example(
                #"rev=$(settle put groceries tea '{"name": "Tea"}')"#, "keeps the revision for the next edit"),
            CommandSpec.Example("settle put groceries milk @milk.json", "saves the output of `get` after an edit"),
            CommandSpec.Example(
                #"settle put groceries tea '{"name": "Chai"}' --rev "$rev" --allow-conflict"#,
                "makes a conflict, as two devices would"),
        ],
        json: #"{"ok":true,"id":…,"rev":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let id = try invocation.documentID()
        try invocation.refuse(["--rev", "--force", "--allow-conflict"], ofLocal: id)
        try arguments.refuse("--force", with: "--allow-conflict")
        try arguments.refuse("--force", with: "--rev")
        let given = try GivenDocument(try bytes(invocation), id: id)
        let revision = try invocation.revision() ?? (arguments.flag("--force") ? nil : given.revision)
        if arguments.flag("--allow-conflict"), revision == nil {
            throw CommandError.usage("--allow-conflict needs --rev", verb: "put")
        }
        let written = try invocation.retrying(arguments.flag("--force") || id.isLocal) {
            try invocation.withClient { client in
                if id.isLocal { return try client.saveLocalDocument(id, given.body) }
                let state = try client.state(of: id, with: revision.map { [$0] } ?? [])
                return try write(given, revision, state, client, arguments)?.description ?? ""
            }
        }
        try invocation.print(id, written)
        return .success
    }

    private static func write(
        _ given: GivenDocument, _ revision: RevisionID?, _ state: DocumentState, _ client: Client,
        _ arguments: Arguments
    ) throws -> RevisionID? {
        let id = state.id
        if arguments.flag("--allow-conflict"), let revision {
            guard state.tree.contains(revision) else {
                throw CommandError.notFound("there is no revision \(revision) of \"\(id)\" to branch from")
            }
            return try client.branch(state, given, on: revision)
        }
        if !arguments.flag("--force"), revision == nil, let winner = state.tree.winner, !winner.isDeleted {
            throw DocumentState.conflict("\"\(id)\" is there already", winner.revision, force: .overwrite)
        }
        let document = try revision.map { try state.document(toEdit: $0, force: .overwrite) } ?? state.shown
        return try client.save(id, given.body, attachments: given.editedAttachments, on: document)
    }

    private static func bytes(_ invocation: Invocation) throws -> [UInt8] {
        let text = invocation.arguments.optionalOperand("JSON") ?? "-"
        if text.hasPrefix("@") { return try ByteInput.open(String(text.dropFirst())).readAll() }
        guard text == "-" else { return Array(text.utf8) }
        let input = ByteInput()
        if input.isTerminal { invocation.console.complain("Type the document, then Ctrl-D.", json: [:]) }
        return try input.readAll()
    }
}

extension Invocation {
    /// Refuses options that mean nothing for a local document.
    ///
    /// - Throws: ``CommandError`` with status `usage`.
    func refuse(_ options: [String], ofLocal id: DocumentID) throws {
        guard id.isLocal, let option = options.first(where: arguments.isGiven) else { return }
        throw CommandError.usage(
            "\(id) is a local document, without history and attachments, whose last write wins; leave out \(option)",
            verb: arguments.verb)
    }
}
