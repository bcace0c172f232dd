internal import SettleDatabase

/// JSON that is to be sent, in which contents of attachments stand as base64: small ones are in it, large ones are read when
/// it is sent, so that what it takes in memory does not depend on them.
struct WireText: Sendable {
    /// All of it but for the contents that are read later.
    var bytes: [UInt8] = []
    /// Which contents are to stand in front of which of the bytes, in order.
    private(set) var contents: [(place: Int, attachment: Attachment)] = []

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// How much memory it takes, in bytes.
    var count: Int { bytes.count }

    /// Whether there is nothing in it.
    var isEmpty: Bool { bytes.isEmpty && contents.isEmpty }

    /// Appends the base64 of a content that is read when it is sent.
    mutating func append(contentOf attachment: Attachment) { contents.append((bytes.count, attachment)) }

    static func += (text: inout WireText, more: some Sequence<UInt8>) { text.bytes.append(contentsOf: more) }

    static func += (text: inout WireText, more: WireText) {
        let start = text.bytes.count
        text.bytes.append(contentsOf: more.bytes)
        for (place, attachment) in more.contents { text.contents.append((start + place, attachment)) }
    }
}
