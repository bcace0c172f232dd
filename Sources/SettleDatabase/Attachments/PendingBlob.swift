/// A pin on a content: while it exists, the content is not collected.
package final class PendingBlob: Sendable {
    /// The record to write together with the first document that references it.
    package let record: BlobRecord
    private let release: @Sendable () -> Void

    package init(record: BlobRecord, release: @escaping @Sendable () -> Void) {
        self.record = record
        self.release = release
    }

    deinit { release() }
}
