internal import SettleDatabase
internal import SettlePlatform

/// The change sets that are committed together: those of the writers of one node that wait at the same time.
///
///     waiting   set · set · set · locked · set · set
///     turns     └─ one commit ─┘  alone    └ one commit ┘
///
/// A ``WriteQueue`` gives the turns, so at most one connection of a node waits for the row of a database.
struct CommitGroup {
    /// A change set that waits for its commit.
    final class Place: Sendable {
        let set: ChangeSet
        let actions: [@Sendable () -> Void]
        private let ended = Guarded<CommitOutcome?>(nil)

        init(_ set: ChangeSet, actions: [@Sendable () -> Void]) { (self.set, self.actions) = (set, actions) }

        /// The outcome of its commit; `nil` before.
        var outcome: CommitOutcome? {
            get { ended.withLock { $0 } }
            set { ended.withLock { $0 = newValue } }
        }
    }

    /// The places of the open commit.
    var places: [Place] = []
    /// The time at which the turn began.
    private let begin = ContinuousClock.now

    /// Whether writers that wait are refused after an outcome of this turn. Turns are short unless PostgreSQL does not answer. After
    /// a longer one without an answer, they would wait as long again.
    func refusesWaiting(after outcome: CommitOutcome) -> Bool { outcome.isUnanswered && begin + Self.patience < .now }

    /// The most change sets, and bytes of changes, of one commit.
    static let (largestBatch, maximumBytes) = (256, 8 << 20)
    private static let patience: Duration = .seconds(2)

    /// The error of writers that are refused.
    static var impatient: DatabaseError {
        DatabaseError(
            .unavailable, "the writes before this one got no answer from PostgreSQL; nothing was written, try again")
    }
}

/// The outcome of the commit of a change set.
enum CommitOutcome: Sendable {
    case committed
    /// Another commit has changed what it expects; nothing of it was written.
    case stale
    case failed(any Error)

    /// Whether PostgreSQL gave no answer.
    var isUnanswered: Bool {
        guard case .failed(let error as DatabaseError) = self else { return false }
        return error.code == .unavailable
    }
}
