/// Says that a read would have to wait where it must not: for a free reader, for a long document, or for other threads.
///
/// The caller does the same work on a thread that may wait.
public struct NotAtHand: Error {
    /// Makes the error.
    public init() {}
}
