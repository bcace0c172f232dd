/// Whether the running thread may wait: for a disk, for another thread that takes its time, or for a long computation.
///
/// A thread that serves many clients at once must not wait for the sake of one. It runs what is quick as a rule inside
/// ``forbidden(_:)``; whatever would wait asks ``check()`` first, and so the work ends in ``WouldWait`` and is done anew
/// on a thread that may. Reading a few pages of a file does not count as waiting.
package enum Waiting {
    @TaskLocal private static var isForbiddenHere = false

    /// Whether the running thread must not wait.
    package static var isForbidden: Bool { isForbiddenHere }

    /// The most bytes of a document that are read where waiting is forbidden.
    package static let mostBytes = 64 * 1024

    /// Runs a closure that must not wait.
    ///
    /// - Throws: What the closure throws; ``WouldWait`` when it came to where it would have had to wait.
    package static func forbidden<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $isForbiddenHere.withValue(true) { try body() }
    }

    /// Says that what follows may take long.
    ///
    /// - Throws: ``WouldWait`` where waiting is forbidden.
    package static func check() throws { if isForbidden { throw WouldWait() } }
}
