internal import Settle
import SettleCore
import SettleDatabase

/// `settle get`: shows a document, or the content of an attachment.
enum GetCommand: Command {
    static let spec = CommandSpec(
        "get", "show a document, or the content of an attachment",
        discussion: """
            The document is printed on several lines on a terminal, else on one; a deleted one only with --rev. `put` \
            accepts the output of `get`. A local document, whose id starts with _local/, takes no option but --output.
            """,
        operands: [.database, .document],
        options: [
            Option("--rev", value: "REV", "this revision instead of the winner; a tombstone too"),
            Option("--revs", "include its history, as _revisions"),
            Option("--conflicts", "include the other leaves, as _conflicts and _deleted_conflicts"),
            Option("--attachments", "include the contents of attachments, as base64"),
            Option("--attachment", value: "NAME", "the content of this attachment instead"),
            Option("--output", short: "-o", value: "FILE", "write to a file"),
        ],
        examples: [
            CommandSpec.Example("settle get groceries milk", "shows the winner"),
            CommandSpec.Example(
                "settle get groceries milk --rev 1-7a7e4b29f3af401e69b6f86e4c26b727", "an older revision"),
            CommandSpec.Example("settle get groceries milk --attachment photo.jpg -o photo.jpg", "saves a photo"),
        ],
        json: #"the document on one line: {"_id":…,"_rev":…,…}; of --attachment the content as it is"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let id = try invocation.documentID()
        try invocation.refuse(["--rev", "--revs", "--conflicts", "--attachments", "--attachment"], ofLocal: id)
        let revision = try invocation.revision()
        return try invocation.withClient { client in
            if id.isLocal { return try showLocal(id, client, invocation) }
            let state = try client.state(of: id, with: revision.map { [$0] } ?? [])
            let document = try document(state, revision)
            if let name = arguments.text("--attachment") {
                return try write(attachment: name, of: document, client, invocation)
            }
            var shape = document.wire
            if arguments.flag("--revs"), let revision = document.revision {
                shape.history = state.tree.history(of: revision)
            }
            if arguments.flag("--attachments") {
                shape.attachments = try document.attachments.map { attachment in
                    var content: [UInt8] = []
                    try client.read(attachment, of: document) { content += $0 }
                    return attachment.wire(.inline(content))
                }
            }
            let hasConflicts = arguments.flag("--conflicts")
            let others = hasConflicts ? conflicts(of: state.tree, besides: document.revision) : []
            return try write(document: shape.bytes(.bodyLate, others: others), invocation)
        }
    }

    /// A revision with its content, or the winner.
    ///
    /// - Throws: ``CommandError`` with status `notFound`, which says why it can't be shown.
    static func document(_ state: DocumentState, _ revision: RevisionID?) throws -> Document {
        if let stored = revision.map({ state.document($0) }) ?? state.shown { return stored }
        let (id, tree) = (state.id, state.tree)
        guard let winner = tree.winner else { throw state.missing }
        if let revision {
            let reason = tree.contains(revision) ? "its body is no longer stored" : "it is unknown here"
            throw CommandError.notFound("there is no revision \(revision) of \"\(id)\" to show: \(reason)")
        }
        throw CommandError.notFound("\"\(id)\" is deleted; --rev \(winner.revision) shows its tombstone")
    }

    private static func conflicts(of tree: RevisionTree, besides shown: RevisionID?) -> [(String, JSONValue)] {
        let others = tree.leaves.filter { $0.revision != shown }
        func member(_ name: String, _ nodes: [RevisionNode]) -> [(String, JSONValue)] {
            nodes.isEmpty ? [] : [(name, .array(nodes.map { .string($0.revision.description) }))]
        }
        return member("_conflicts", others.filter { !$0.isDeleted })
            + member("_deleted_conflicts", others.filter(\.isDeleted))
    }

    /// Prints a document, or writes it to the file of `--output`.
    private static func write(document bytes: [UInt8], _ invocation: Invocation) throws -> ExitStatus {
        if let path = invocation.arguments.text("--output"), path != "-" {
            let file = try ByteOutput(path: path)
            try file.write(bytes + [UInt8(ascii: "\n")])
            try file.finish()
        } else {
            try invocation.console.print(document: bytes)
        }
        return .success
    }

    private static func write(
        attachment name: String, of document: Document, _ client: Client, _ invocation: Invocation
    ) throws -> ExitStatus {
        guard let attachment = document.attachment(name) else {
            let names = document.attachments.map(\.name).joined(separator: ", ")
            let others = names.isEmpty ? "it has none" : "it has \(names)"
            throw CommandError.notFound("\"\(document.id)\" has no attachment \"\(name)\"; \(others)")
        }
        let path = invocation.arguments.text("--output").flatMap { $0 == "-" ? nil : $0 }
        let output = try path.map { try ByteOutput(path: $0) } ?? invocation.console.output
        try client.read(attachment, of: document) { try output.write($0) }
        try output.finish()
        return .success
    }

    private static func showLocal(
        _ id: DocumentID, _ client: Client, _ invocation: Invocation
    ) throws -> ExitStatus {
        guard let local = try client.localDocument(id) else {
            throw CommandError.notFound("there is no document \"\(id)\"")
        }
        let document = WireDocument(id: id.string, revision: .impossible(local.revision), body: local.body)
        return try write(document: document.bytes(.bodyLate), invocation)
    }
}
