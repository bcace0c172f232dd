/// A task that only a storage engine can do.
public enum MaintenanceTask: Sendable, CaseIterable {
    /// Gives unused space back to the system, while nothing else is written.
    case reclaimSpace
    /// Checks what only the engine can check. Takes time O(*n*) in all that is stored.
    case check
    /// Measures the space on disk, in constant time.
    case measure
    /// Adds up what apps gave, in time O(*n*) in documents and contents.
    case weigh
}

/// The result of a ``MaintenanceTask``; what another task would report has its default.
public struct MaintenanceReport: Sendable {
    /// Of reclaiming: whether everything that was committed is now on the disk for good; not while someone still reads an older
    /// state.
    public var isDurable = false
    /// Of a check: what is wrong, in words.
    public var problems: [String] = []
    /// Of measuring: the size of what is kept on disk, in bytes, without contents of attachments that are not in their rows.
    public var bytes: Int64 = 0
    /// Of measuring: how much of that is not in use, in bytes.
    public var freeBytes: Int64 = 0
    /// Of weighing: how much of what apps gave is kept.
    public var payload = StoragePayload()

    /// Creates an empty report.
    public init() {}
}

/// How much of what apps gave to a database is kept, in bytes.
public struct StoragePayload: Sendable, Hashable {
    /// The bodies of winners.
    public var winners: Int64
    /// Contents of other revisions, kept apart.
    public var apart: Int64
    /// Contents of attachments, as they are stored.
    public var attachments: Int64
    /// Those of them that are not in their rows.
    public var attachmentFiles: Int64

    /// Makes figures.
    public init(winners: Int64 = 0, apart: Int64 = 0, attachments: Int64 = 0, attachmentFiles: Int64 = 0) {
        (self.winners, self.apart, self.attachments, self.attachmentFiles) = (
            winners, apart, attachments, attachmentFiles
        )
    }
}
