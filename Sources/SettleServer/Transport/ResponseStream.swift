/// A body that is made while it is sent: an attachment, a long list, or a feed that waits most of the time.
///
/// A stream that has to wait says so and holds no thread until it calls `wake`. The transport asks on a worker thread,
/// one at a time.
protocol ResponseStream: AnyObject, Sendable {
    /// Is called once, before the first ``next()``.
    ///
    /// - Parameter wake: Has ``next()`` called again, after it said to wait; may be called by any thread, at any time.
    func begin(wake: @escaping @Sendable () -> Void)

    /// The next piece, or what to do instead. When it throws, the client sees that the answer was cut off.
    func next() throws -> ResponseStep

    /// Asks it to end soon: the next ``next()`` gives the last piece, if its form needs one.
    ///
    /// - Returns: Whether it does; one that does not is ended where it waits.
    func finish() -> Bool

    /// Is called once, when all was sent, the client is gone, or the server stops.
    func end()
}

extension ResponseStream {
    func begin(wake: @escaping @Sendable () -> Void) {}
    func finish() -> Bool { false }
    func end() {}
}
