internal import Settle

/// `settle detach`: removes an attachment from a document.
enum DetachCommand: Command {
    static let spec = CommandSpec(
        "detach", "remove an attachment from a document, and write the new revision",
        discussion: "The next `settle compact` removes its content, unless another document has it too.",
        operands: [.database, .document, Operand("NAME", "the attachment's name")],
        options: [Option("--rev", value: "REV", "the revision to remove it from (default: the winner)")],
        examples: [
            CommandSpec.Example("settle detach groceries milk photo.jpg", "removes the photo"),
            CommandSpec.Example(
                "settle detach groceries milk photo.jpg --rev 2-9a1f6c0e4d3b2a18f7e6d5c4b3a29180",
                "removes it only if nobody has changed the document since that revision"),
        ],
        json: #"{"ok":true,"id":…,"rev":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let id = try invocation.documentID()
        let name = try invocation.arguments.operand("NAME")
        return try invocation.withClient { client in
            let state = try client.state(of: id)
            guard var document = try invocation.documentToAdd(to: state) else { throw state.missing }
            guard document.detach(name) else {
                throw CommandError.notFound("\"\(id)\" has no attachment \"\(name)\"")
            }
            let saved = try client.save(id, document.body(), on: document)
            try invocation.print(id, saved.description)
            return .success
        }
    }
}
