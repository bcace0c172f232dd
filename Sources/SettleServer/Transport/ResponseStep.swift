/// What a ``ResponseStream`` has to say when it is asked for more.
enum ResponseStep: Sendable {
    /// Bytes to send.
    case piece([UInt8])
    /// Nothing until it wakes.
    case wait
    /// Nothing any more.
    case end
}
