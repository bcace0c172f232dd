/// How much of what apps gave to a database is kept, in bytes.
public struct StoragePayload: Sendable, Hashable {
    /// The bodies of winners.
    public var winners: Int64
    /// Contents of other revisions, kept apart.
    public var apart: Int64
    /// Contents of attachments, as they are stored.
    public var attachments: Int64
    /// Those of them that have files of their own.
    public var attachmentFiles: Int64

    /// Makes figures.
    public init(winners: Int64 = 0, apart: Int64 = 0, attachments: Int64 = 0, attachmentFiles: Int64 = 0) {
        (self.winners, self.apart, self.attachments, self.attachmentFiles) = (
            winners, apart, attachments, attachmentFiles
        )
    }
}
