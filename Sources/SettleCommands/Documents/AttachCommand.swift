internal import Settle

/// `settle attach`: adds an attachment to a document.
enum AttachCommand: Command {
    static let spec = CommandSpec(
        "attach", "add a file to a document, and write the new revision",
        discussion: "A missing document is created. An attachment of the same name is replaced.",
        operands: [.database, .document, Operand("FILE", "the file; - for standard input")],
        options: [
            Option("--name", value: "NAME", "its name in the document (default: the name of the file)"),
            Option("--type", value: "TYPE", "its media type (default: by the extension of its name)"),
            Option("--rev", value: "REV", "the revision to add it to (default: the winner)"),
        ],
        examples: [
            CommandSpec.Example("settle attach groceries milk photo.jpg", "adds a photo"),
            CommandSpec.Example(
                "date | settle attach groceries milk - --name bought.txt", "adds a command's output"),
        ],
        json: #"{"ok":true,"id":…,"rev":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let id = try invocation.documentID()
        let path = try arguments.operand("FILE")
        let fileName = path == "-" ? nil : path.split(separator: "/").last.map(String.init)
        guard let name = arguments.text("--name") ?? fileName else {
            throw CommandError.usage("an attachment from standard input needs --name", verb: "attach")
        }
        let input = try ByteInput.open(path)
        let type = arguments.text("--type") ?? MediaType.guess(name)
        return try invocation.withClient { client in
            // A revision that is no longer a leaf is refused before anything is sent.
            let document = try invocation.documentToAdd(to: client.state(of: id))
            try invocation.print(id, client.attach(input, name, type, to: id, on: document?.revision))
            return .success
        }
    }
}
