/// Counts and sizes of a database.
public struct DatabaseInfo: Sendable, Hashable {
    /// How many documents there are, live and deleted.
    public var documents: DocumentCounts
    /// How many documents have two or more live leaves.
    public var conflicts: Int
    /// How many documents have one live leaf and a user's deletion that stands against it.
    public var contested: Int
    /// How many attachments' contents are kept, each once.
    public var blobs: Int
    /// The position of the newest change.
    public var lastSequence: UpdateSequence
    /// The size of the database file, in bytes.
    public var fileSize: Int64
    /// The size of the files of large attachments, in bytes.
    public var attachmentFilesSize: Int64
    /// How many revisions of a branch are kept; see ``Database/revisionLimit()``.
    public var revisionLimit: Int
}
