/// The search for the document that makes a server fail, among those of a call.
///
/// A server may fail permanently at one document: an index it can't write, a proxy that rejects a word. Every batch
/// with that document fails, and the others would wait indefinitely. So after a few failures the batches become
/// smaller:
///
///     100 fail, fail, fail ─→ 50 fail ─→ 25 stored, 50 stored … 1 fails again and again ─→ listed as failed
///
/// Batches grow again with each success. After a failing document, the next ones are tried less often. If many fail in
/// a row and none succeeds, the server itself is failing: a one-shot replication ends, a continuous one continues at
/// the pace of the first document.
struct BatchBisection: Sendable {
    /// How many documents a call may have.
    private(set) var most = Int.max
    /// How many failing documents were found since the last success.
    private var inARow = 0
    /// How often a batch is tried whole before the search starts.
    private static let patience = 3
    /// The number of failing documents in a row above which the server is considered down.
    private static let mostInARow = 10

    /// The conclusion from a failure.
    enum Verdict {
        /// The same call may succeed later.
        case again
        /// A smaller batch may succeed.
        case fewer
        /// This document is the cause.
        case guilty
    }

    /// Judges the failure of a call.
    ///
    /// - Parameters:
    ///   - count: How many documents the call has.
    ///   - failures: How often it has failed, including this time.
    ///   - attempts: How often a single document is tried.
    ///   - isEndless: Whether the replication continues when the server fails.
    /// - Returns: What to do with the call.
    mutating func judge(_ count: Int, failures: Int, attempts: Int, isEndless: Bool) -> Verdict {
        if count > 1 {
            guard failures >= Self.patience || most < .max else { return .again }
            most = count / 2
            return .fewer
        }
        let isTriedEnough = failures >= attempts
        guard inARow < Self.mostInARow ? isTriedEnough || inARow > 0 : isTriedEnough && isEndless else { return .again }
        inARow += 1
        return .guilty
    }

    /// Records a success.
    mutating func succeed() {
        inARow = 0
        most = most < 1 << 20 ? most * 2 : .max
    }
}
