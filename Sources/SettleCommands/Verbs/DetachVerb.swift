internal import Settle

/// `settle detach`: takes an attachment out of a document.
enum DetachVerb: Verb {
    static let guide = Guide(
        "detach", "take an attachment out of a document, and write the new revision",
        discussion: "Its content goes with the next `settle compact`, unless another document has it too.",
        operands: [.database, .document, Operand("NAME", "the attachment's name")],
        options: [Option("--rev", value: "REV", "the revision to take it out of (default: the winner)")],
        examples: [Guide.Example("settle detach groceries milk photo.jpg", "takes the photo out")],
        json: #"{"ok":true,"id":…,"rev":…}"#)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let id = try invocation.documentID()
        let name = try invocation.arguments.operand("NAME")
        let revision = try invocation.revision()
        return try invocation.withDocument(id, at: revision.map { [$0] } ?? []) { place in
            guard var document = try invocation.documentToAdd(to: id, in: place.database) else {
                throw CommandError.notFound("there is no document \"\(id)\"")
            }
            guard document.detach(name) else {
                throw CommandError.notFound("\"\(id)\" has no attachment \"\(name)\"")
            }
            let saved = try place.commit(place.database.save(document, onConflict: .fail))
            try invocation.print(id, saved?.description ?? "")
            return .success
        }
    }
}
