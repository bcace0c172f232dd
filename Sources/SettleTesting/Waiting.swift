// The waits of the tests. Each ends as soon as what it waits for is there; the limit only matters to a test that fails.

#if canImport(Testing)
internal import Foundation
package import Testing

/// The time after which a wait fails: long, because a busy machine may need a minute for the work of a second.
private let waitLimit = Duration.seconds(300)
/// The time between two evaluations of a condition. With the variable `SETTLE_WAIT_STEP` it is that many milliseconds,
/// and a wait begins with such a pause, as if a busy machine had held up the test for so long. A test that waits for a
/// short state, such as a request that is running, then fails each time, because the state has ended when it looks.
private let waitStep = Duration.milliseconds(slowStep ?? 10)
private let slowStep = ProcessInfo.processInfo.environment["SETTLE_WAIT_STEP"].flatMap { UInt32($0) }

/// Blocks the thread until a condition holds, for five minutes at most. For tests that run in tasks there is
/// ``eventually(_:sourceLocation:_:)``.
///
/// - Parameters:
///   - goal: What the condition means. A failure reports it.
///   - sourceLocation: The place at which a failure is reported.
///   - condition: The condition. It is evaluated at once and every 10 milliseconds, and not again once it holds. An
///     error counts as a condition that does not hold, and a failure reports the last one.
package func waitUntil(
    _ goal: String = "the condition holds", sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () throws -> Bool
) {
    let end = ContinuousClock.now + waitLimit
    var failure: (any Error)?
    if slowStep != nil { Thread.sleep(forTimeInterval: waitStep / .seconds(1)) }
    while true {
        // After the last pause, which may have been long, the condition is evaluated once more.
        let isLast = ContinuousClock.now >= end
        do {
            if try condition() { return }
            failure = nil
        } catch { failure = error }
        if isLast { break }
        Thread.sleep(forTimeInterval: waitStep / .seconds(1))
    }
    recordWait(goal, failure, sourceLocation)
}

/// Suspends the task until a condition holds, for five minutes at most, or until the task is cancelled. For tests on
/// threads of their own there is ``waitUntil(_:sourceLocation:_:)``.
///
/// - Parameters:
///   - goal: What the condition means. A failure reports it.
///   - sourceLocation: The place at which a failure is reported.
///   - condition: The condition. It is evaluated at once and every 10 milliseconds, and not again once it holds. An
///     error counts as a condition that does not hold, and a failure reports the last one.
package func eventually(
    _ goal: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async {
    let end = ContinuousClock.now + waitLimit
    var failure: (any Error)?
    if slowStep != nil { try? await Task.sleep(for: waitStep) }
    while true {
        let isLast = ContinuousClock.now >= end || Task.isCancelled
        do {
            if try await condition() { return }
            failure = nil
        } catch { failure = error }
        if isLast { break }
        try? await Task.sleep(for: waitStep)
    }
    recordWait(goal, failure, sourceLocation)
}

private func recordWait(_ goal: String, _ failure: (any Error)?, _ sourceLocation: SourceLocation) {
    let reason = failure.map { "; the last error was: \($0)" } ?? ""
    Issue.record("waited in vain until \(goal)\(reason)", sourceLocation: sourceLocation)
}
#endif
