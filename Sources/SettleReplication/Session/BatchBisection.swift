/// The search for the document at which a server fails, among those of a call.
///
/// A server may fail at one document for good: an index it can't write, a proxy that chokes on a word. Then every batch with
/// that document in it fails, and the others would wait for ever. So after a few failures the batches become smaller:
///
///     100 fail, fail, fail ─→ 50 fail ─→ 25 stored, 50 stored … 1 fails again and again ─→ listed as failed
///
/// With each success they grow again. After a guilty document the next ones are not tried as often; but where many fail in a
/// row and none succeeds, it is the server: one replication ends with that, another goes on at the pace of the first.
struct BatchBisection: Sendable {
    /// How many documents a call may have.
    private(set) var most = Int.max
    /// How many documents were found guilty since anything succeeded.
    private var inARow = 0
    /// How often a batch is tried whole before a search begins.
    private static let patience = 3
    /// The number of failing documents in a row above which the server is considered down.
    private static let mostInARow = 10

    /// What a failure means.
    enum Verdict {
        /// The same call may succeed later.
        case again
        /// Fewer at once may succeed.
        case fewer
        /// It is this document.
        case guilty
    }

    /// Takes the failure of a call.
    ///
    /// - Parameters:
    ///   - count: How many documents the call has.
    ///   - failures: How often it has failed, this time included.
    ///   - attempts: How often a single document is tried.
    ///   - isEndless: Whether the replication does not end when the server fails.
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

    /// A call has succeeded.
    mutating func succeed() {
        inARow = 0
        most = most < 1 << 20 ? most * 2 : .max
    }
}
