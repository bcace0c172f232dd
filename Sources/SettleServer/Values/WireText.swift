internal import SettleDatabase

/// JSON to be sent, with attachments as base64: small ones are in memory, large ones are read when they are sent, so that
/// memory does not depend on their size.
struct WireText: Sendable {
    /// The text without the contents that are read later.
    var bytes: [UInt8] = []
    /// The contents to insert, and the byte before which each is inserted, in order.
    private(set) var contents: [(place: Int, attachment: DocumentAttachment)] = []

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Its size in memory, in bytes.
    var count: Int { bytes.count }

    var isEmpty: Bool { bytes.isEmpty && contents.isEmpty }

    /// Appends the base64 of a content that is read when it is sent.
    mutating func append(contentOf attachment: DocumentAttachment) { contents.append((bytes.count, attachment)) }

    static func += (text: inout WireText, more: some Sequence<UInt8>) { text.bytes.append(contentsOf: more) }

    static func += (text: inout WireText, more: WireText) {
        let start = text.bytes.count
        text.bytes.append(contentsOf: more.bytes)
        for (place, attachment) in more.contents { text.contents.append((start + place, attachment)) }
    }
}
