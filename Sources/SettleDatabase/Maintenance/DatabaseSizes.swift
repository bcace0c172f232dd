/// How large a database is, in bytes: the figures that CouchDB calls `sizes`.
public struct DatabaseSizes: Sendable, Hashable {
    /// What it takes on disk: the file, its log, and the files of large attachments.
    public var file: Int64
    /// The part of that which is in use: without free pages, the log, and old contents that the next compaction lets go of.
    public var active: Int64
    /// What documents and attachments take without anything around them: bodies as JSON, attachments as they are stored.
    public var external: Int64
}
