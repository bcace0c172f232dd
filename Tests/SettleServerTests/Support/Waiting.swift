import Foundation
import Testing

/// Waits for something that no event tells of, ten seconds at most; then it must be so.
func waitUntil(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<6000 where !condition() { usleep(20_000) }
    #expect(condition(), sourceLocation: sourceLocation)
}
