internal import Dispatch
internal import Settle
internal import SettlePlatform

/// Lets a verb, which runs on the main thread, wait for work of the concurrency pool.
///
///     main thread   ──┐ begins a task            ┌─▶ goes on with its result
///                     └ looks for Ctrl-C, waits ─┘
///     pool               requests, answers: nothing here blocks
///
/// Ctrl-C while it waits cancels the work. What is begun after it, to leave things whole, is not cancelled.
enum Waiting {
    /// Does some work and returns what comes of it.
    ///
    /// - Parameters:
    ///   - meanwhile: What this thread does meanwhile; when it throws, the work is cancelled.
    ///   - whileWaiting: Called several times a second while this thread waits.
    ///   - work: The work.
    /// - Returns: What comes of it.
    /// - Throws: What the work or `meanwhile` throws, or ``CommandError/interrupted``.
    static func wait<Value: Sendable>(
        meanwhile: () throws -> Void = {}, whileWaiting: () -> Void = {},
        for work: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let outcome = Guarded<Result<Value, any Error>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let task = Task.detached {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            isDone.signal()
        }
        let wasInterrupted = Interruption.isWanted
        do { try meanwhile() } catch {
            task.cancel()
            isDone.wait()
            throw error
        }
        var isCancelled = false
        while isDone.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            whileWaiting()
            guard Interruption.isWanted, !wasInterrupted, !isCancelled else { continue }
            task.cancel()
            isCancelled = true
        }
        switch outcome.withLock({ $0 }) {
        case .success(let value)?: return value
        case .failure where isCancelled: throw CommandError.interrupted
        case .failure(let error)?: throw error
        case nil: throw CommandError.interrupted
        }
    }
}
