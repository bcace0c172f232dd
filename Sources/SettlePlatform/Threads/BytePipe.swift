/// A bounded pipe: passes pieces of bytes from a writer to a reader, and holds a limited number of bytes.
///
///     writer                                      reader
///     put      suspends its task while full       next   suspends its task while empty
///     write    blocks its thread while full       read   blocks its thread while empty
///     offer    never waits: full, stalled
///
///     open ── finish ──→ finished     the reader gets what waits, and then the end or the writer's error
///       └──── cut ─────→ cut          both sides end at once, and what waits is dropped
///
/// Each side may be a task or a thread, independently of the other side. A pipe has one writer and one reader.
package final class BytePipe: Sendable {
    private enum End {
        case open
        case finished((any Error)?)
        case cut(any Error)
    }

    private struct State {
        let capacity: Int
        var pieces = Queue<[UInt8]>()
        /// The last piece, which grows while bytes are offered; it comes after `pieces`.
        var growing: [UInt8] = []
        var count = 0
        var end = End.open
        var isStalled = false
        var onRoom: @Sendable () -> Void = {}

        /// Adds a piece; returns whether the pipe is open, or `nil` while the writer has to wait.
        mutating func add(_ piece: [UInt8]) -> Bool? {
            guard case .open = end else { return false }
            guard count < capacity else { return nil }
            flush()
            if !piece.isEmpty { pieces.append(piece) }
            count += piece.count
            return true
        }

        /// Ends the growing piece, so that the next one comes after it.
        mutating func flush() {
            if !growing.isEmpty { pieces.append(growing) }
            growing = []
        }

        /// Removes the oldest piece; `nil` while the reader has to wait.
        mutating func next() -> Result<[UInt8]?, any Error>? {
            if case .cut(let error) = end { return .failure(error) }
            if let piece = pieces.popFirst() {
                count -= piece.count
                return .success(piece)
            }
            if !growing.isEmpty {
                defer { (growing, count) = ([], 0) }
                return .success(growing)
            }
            guard case .finished(let error) = end else { return nil }
            return error.map { .failure($0) } ?? .success(nil)
        }

        /// The callback to call when there is room again.
        mutating func roomMade() -> (@Sendable () -> Void)? {
            guard isStalled, count <= capacity / 2 else { return nil }
            isStalled = false
            return onRoom
        }
    }

    private let state: Monitor<State>
    private let bell = Bell()
    /// The maximum size of a piece that grows from offered bytes.
    private static let pieceSize = 64 << 10
    /// The time between two checks of a waiting thread, in seconds.
    private static let interval = 0.05

    /// Creates an open pipe.
    ///
    /// - Parameter capacity: The number of bytes at which the pipe is full. The last piece may exceed it. With a
    ///   capacity of one byte, the default, a pipe holds one piece.
    package init(capacity: Int = 1) { state = Monitor(State(capacity: capacity)) }

    // MARK: - End

    /// Ends the writing; the reader still gets the waiting pieces.
    ///
    /// - Parameter error: The error of the reader's last call; `nil` for a normal end.
    /// - Returns: Whether the pipe was open.
    @discardableResult
    package func finish(_ error: (any Error)? = nil) -> Bool {
        change { state in
            guard case .open = state.end else { return false }
            state.end = .finished(error)
            return true
        }
    }

    /// Ends both sides at once and drops the waiting bytes. The writer's next call reports that, and the reader's
    /// throws an error.
    ///
    /// - Returns: Whether the pipe was open.
    @discardableResult
    package func cut(_ error: any Error = CancellationError()) -> Bool {
        change { state in
            let wasOpen = if case .open = state.end { true } else { false }
            if case .cut = state.end { return false }
            (state.pieces, state.growing, state.count) = (Queue(), [], 0)
            state.end = .cut(error)
            return wasOpen
        }
    }

    /// Changes the state, and wakes threads and tasks.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let result = state.update { body(&$0) }
        bell.ring()
        return result
    }

    // MARK: - Writing

    /// Writes a piece; suspends the task while the pipe is full. A cancelled task cuts the pipe.
    ///
    /// - Throws: `CancellationError` if the pipe was cut.
    package func put(_ piece: [UInt8]) async throws {
        try await withTaskCancellationHandler {
            while true {
                let seen = bell.position
                // Wake others only after a change; otherwise this loop would never wait.
                if let isOpen = state.update({ $0.add(piece) }) {
                    bell.ring()
                    if !isOpen { throw CancellationError() }
                    return
                }
                await bell.wait(after: seen)
            }
        } onCancel: {
            cut()
        }
    }

    /// Writes a piece; blocks the thread while the pipe is full.
    ///
    /// - Parameters:
    ///   - piece: The piece.
    ///   - check: Called several times a second while the thread waits; its error ends the wait.
    /// - Returns: Whether the pipe is open; if not, the piece is dropped.
    /// - Throws: Errors of `check`.
    @available(*, noasync)
    package func write(_ piece: [UInt8], checking check: () throws -> Void) throws -> Bool {
        while true {
            if let isOpen = state.wait(seconds: Self.interval, for: { $0.add(piece) }) {
                change { _ in }
                return isOpen
            }
            try check()
        }
    }

    /// The outcome of an offer of bytes.
    package enum Offer: Sendable {
        case taken
        /// The pipe is full. The bytes were not accepted, and the pipe is stalled until half of it is free.
        case full
        /// The pipe has ended.
        case ended
    }

    /// Writes bytes unless the pipe is full; never waits.
    package func offer(_ bytes: UnsafeRawBufferPointer) -> Offer {
        change { state in
            guard case .open = state.end else { return .ended }
            guard state.count < state.capacity else {
                state.isStalled = true
                return .full
            }
            if state.growing.count + bytes.count > Self.pieceSize { state.flush() }
            state.growing.append(contentsOf: bytes)
            state.count += bytes.count
            return .taken
        }
    }

    /// Whether offered bytes were refused, and half of the pipe has not become free since.
    package var isStalled: Bool { state.withLock(\.isStalled) }

    /// Sets the closure that is called, on the reader's thread, when a stalled pipe has room again.
    package func onRoom(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onRoom = body } }

    // MARK: - Reading

    /// Returns the next piece; suspends the task while the pipe is empty.
    ///
    /// - Parameter onCancel: Called when the task is cancelled; by default this cuts the pipe. The closure must end
    ///   the pipe.
    /// - Returns: The piece; `nil` at the end.
    /// - Throws: The error with which the pipe was finished or cut.
    package func next(onCancel: (@Sendable () -> Void)? = nil) async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            while true {
                let seen = bell.position
                if let piece = state.withLock({ $0.next() }) {
                    madeRoom()
                    return try piece.get()
                }
                await bell.wait(after: seen)
            }
        } onCancel: {
            if let onCancel { onCancel() } else { cut() }
        }
    }

    /// Returns the next piece; blocks the thread while the pipe is empty.
    ///
    /// - Parameter check: Called several times a second while the thread waits; its error ends the wait.
    /// - Returns: The piece; `nil` at the end.
    /// - Throws: The error with which the pipe was finished or cut, and errors of `check`.
    @available(*, noasync)
    package func read(checking check: () throws -> Void) throws -> [UInt8]? {
        while true {
            if let piece = state.wait(seconds: Self.interval, for: { $0.next() }) {
                madeRoom()
                return try piece.get()
            }
            try check()
        }
    }

    private func madeRoom() { change { $0.roomMade() }?() }
}
