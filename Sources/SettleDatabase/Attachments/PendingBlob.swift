/// A content on its way into a database: as long as it lives, the content is not collected.
package final class PendingBlob: Sendable {
    /// What is to be written together with the document that first holds it.
    package let record: BlobRecord
    private let release: @Sendable () -> Void

    package init(record: BlobRecord, release: @escaping @Sendable () -> Void) {
        self.record = record
        self.release = release
    }

    deinit { release() }
}
