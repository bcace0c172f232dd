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

// MARK: - DetachCommand

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

// MARK: - MediaType

/// The media types of files, by extension.
enum MediaType {
    private static let types = [
        "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp", "css": "text/css",
        "csv": "text/csv", "epub": "application/epub+zip", "gif": "image/gif", "gz": "application/gzip",
        "heic": "image/heic", "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon",
        "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "application/javascript",
        "json": "application/json", "m4a": "audio/mp4", "md": "text/markdown", "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg",
        "otf": "font/otf", "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
        "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "ttf": "font/ttf",
        "txt": "text/plain", "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm",
        "webm": "video/webm", "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2",
        "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
        "zst": "application/zstd",
    ]

    /// The type of a file with this name; `application/octet-stream` for an unknown extension.
    static func guess(_ name: String) -> String {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let ending = parts.count > 1 ? parts.last?.lowercased() : nil
        return ending.flatMap { types[$0] } ?? "application/octet-stream"
    }
}
