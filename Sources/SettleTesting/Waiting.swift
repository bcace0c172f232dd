#if canImport(Testing)
internal import Foundation
package import Testing

/// Polls a condition until it holds, for two minutes at most; an error counts as a condition that does not hold.
///
/// - Parameters:
///   - condition: The condition. It is evaluated every 20 milliseconds, and not again once it holds.
///   - sourceLocation: The place at which a failure is reported.
package func waitUntil(_ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
        if (try? condition()) == true { return }
        usleep(20_000)
    }
    Issue.record("the condition did not hold within two minutes", sourceLocation: sourceLocation)
}
#endif
