/// The flags of a frame, of one byte.
struct BLIPFlags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    /// The frame went through the connection's deflate.
    static let compressed = BLIPFlags(rawValue: 0x08)
    /// The message goes before others.
    static let urgent = BLIPFlags(rawValue: 0x10)
    /// No answer is wanted.
    static let noReply = BLIPFlags(rawValue: 0x20)
    /// More frames of this message follow.
    static let moreComing = BLIPFlags(rawValue: 0x40)

    /// What a frame is a part of.
    enum Kind: UInt8, Sendable {
        case request = 0
        case reply = 1
        case error = 2
        /// How much of a request has come.
        case requestReceived = 4
        /// How much of a reply has come.
        case replyReceived = 5
    }

    /// `nil` for a kind that the protocol does not have.
    var kind: Kind? { Kind(rawValue: rawValue & 0x07) }

    init(rawValue: UInt8) { self.rawValue = rawValue }
    init(_ kind: Kind, _ others: BLIPFlags = []) { rawValue = kind.rawValue | others.rawValue }
}
