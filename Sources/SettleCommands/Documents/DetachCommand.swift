internal import Settle

/// `settle detach`: removes an attachment from a document.
enum DetachCommand: Command {
    static let spec = CommandSpec(
        "detach", "take an attachment out of a document, and write the new revision",
        discussion: "Its content goes with the next `settle compact`, unless another document has it too.",
        operands: [.database, .document, Operand("NAME", "the attachment's name")],
        options: [Option("--rev", value: "REV", "the revision to take it out of (default: the winner)")],
        examples: [CommandSpec.Example("settle detach groceries milk photo.jpg", "takes the photo out")],
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
