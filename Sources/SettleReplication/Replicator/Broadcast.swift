internal import SettleDatabase
internal import SettlePlatform

/// Sends each element to all listeners, each with a buffer of the newest ones.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
        var next = 0
    }

    private let state = Guarded(State())
    private let buffered: Int

    init(buffered: Int) { self.buffered = buffered }

    /// Whether there are listeners.
    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Adds a listener, optionally with a first element.
    func listen(first: Element? = nil) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(buffered))
        if let first { continuation.yield(first) }
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Sends an element.
    func send(_ element: Element) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(element) }
    }

    /// Ends the streams of all listeners.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    deinit { finish() }
}
