import Foundation
import Testing

/// Polls a condition for ten seconds at most; then it must hold.
func waitUntil(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<6000 where !condition() { usleep(20_000) }
    #expect(condition(), sourceLocation: sourceLocation)
}
