internal import Settle

/// Where an import stores documents.
protocol ImportStore {
    /// Takes the attachments of the input.
    var intake: AttachmentIntake { get }

    /// Does all that a closure writes at once, where that can be done.
    func transaction(_ body: () throws -> Void) throws

    /// Stores documents as edits.
    func save(_ documents: [Document], onConflict conflict: Importer.Conflict) throws -> [Importer.Outcome]

    /// Stores revisions with their histories.
    func insert(_ revisions: [ReplicatedRevision]) throws -> [Importer.Outcome]

    /// Stores a local document.
    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws
}
