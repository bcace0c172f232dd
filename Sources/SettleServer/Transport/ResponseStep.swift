/// What a ``ResponseStream`` has to say when it is asked for more.
enum ResponseStep: Sendable {
    /// Bytes to send; none for a stream that looks for some and lets others go on meanwhile.
    case piece([UInt8])
    /// Nothing until it wakes.
    case wait
    /// Nothing any more.
    case end
}
