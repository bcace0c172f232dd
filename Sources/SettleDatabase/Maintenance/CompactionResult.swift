/// What a compaction let go of.
public struct CompactionResult: Sendable, Hashable {
    /// Contents of revisions that are no leaves and no base of a merge.
    public var contents = 0
    /// Contents of attachments that no kept revision holds.
    public var blobs = 0
    /// By how much the database became smaller on disk, in bytes.
    public var bytes: Int64 = 0
}
