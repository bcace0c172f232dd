import Foundation

extension Process {
    /// Runs the program until it ends, without blocking a thread: a server in this process may need the few threads on which
    /// tests run.
    func runToEnd() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            terminationHandler = { _ in continuation.resume() }
            do { try run() } catch {
                terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}
