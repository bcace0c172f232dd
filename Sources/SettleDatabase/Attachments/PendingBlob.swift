/// A pin on a content: while it exists, the content is not collected.
package final class PendingBlob: Sendable {
    /// The record to write together with the first document that references it.
    package let record: BlobRecord
    private let pin: BlobPins.Pin
    /// The pin that other processes see.
    private let stored: (any AnyObject & Sendable)?

    init(_ record: BlobRecord, _ pin: BlobPins.Pin, _ stored: (any AnyObject & Sendable)? = nil) {
        (self.record, self.pin, self.stored) = (record, pin, stored)
    }

    /// Whether the content was pinned by these pins.
    func isOne(of pins: BlobPins) -> Bool { pin.isOne(of: pins) }
}
