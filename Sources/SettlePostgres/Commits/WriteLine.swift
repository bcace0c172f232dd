internal import SettleDatabase
internal import SettlePlatform

/// The queue of one database's writes on this node: locked sessions one by one, change sets in groups.
///
///     waiting   set · set · set · locked · set · set
///     turns     └─ one commit ─┘  alone    └ one commit ┘
///
/// So at most one connection of a node waits for the row of a database.
final class WriteLine: Sendable {
    /// A thread in the queue.
    final class Place: Sendable {
        /// A message that wakes the thread.
        enum Signal: Sendable {
            /// Commit the thread's own set, together with those of these later places.
            case lead([Place])
            /// Write alone.
            case alone
            /// Another thread has committed the set, or failed to.
            case ended(CommitOutcome)
        }

        /// The changes to commit; `nil` for a locked session.
        let set: ChangeSet?
        let bytes: Int
        let actions: [@Sendable () -> Void]
        /// The message that the thread waits for.
        let signal = Promise<Signal>()

        init(_ set: ChangeSet?, bytes: Int = 0, actions: [@Sendable () -> Void] = []) {
            (self.set, self.bytes, self.actions) = (set, bytes, actions)
        }
    }

    private struct State {
        var waiting = Queue<Place>()
        /// The time at which the current turn began.
        var turn: ContinuousClock.Instant?
    }

    private let state = Guarded(State())
    private static let largestGroup = 256
    private static let maximumBytes = 8 << 20
    /// Turns are short unless PostgreSQL does not answer. If a longer turn got no answer, the waiting writes are
    /// refused, because they would wait just as long.
    private static let patience: Duration = .seconds(2)

    /// The number of writes that wait for a turn.
    var count: Int { state.withLock { $0.waiting.count } }

    /// Waits for a turn.
    func enter(_ place: Place) -> Place.Signal {
        state.withLock { $0.waiting.append(place) }
        callNext()
        return place.signal.wait()
    }

    /// Ends a turn and wakes the next threads.
    func leave(unanswered: Bool) {
        var refused = state.withLock { state in
            defer { state.turn = nil }
            guard unanswered, let turn = state.turn, turn + Self.patience < .now else { return Queue<Place>() }
            defer { state.waiting = Queue() }
            return state.waiting
        }
        while let place = refused.popFirst() { place.signal.fulfil(.ended(.failed(Self.impatient))) }
        callNext()
    }

    private func callNext() {
        let next = state.withLock { state -> (Place, Place.Signal)? in
            guard state.turn == nil, let first = state.waiting.popFirst() else { return nil }
            state.turn = .now
            guard first.set != nil else { return (first, .alone) }
            // Without the first place, which would keep itself alive through its signal.
            var (others, bytes) = ([Place](), first.bytes)
            while let place = state.waiting.first, place.set != nil, others.count + 1 < Self.largestGroup,
                bytes + place.bytes <= Self.maximumBytes
            {
                _ = state.waiting.popFirst()
                others.append(place)
                bytes += place.bytes
            }
            return (first, .lead(others))
        }
        if let (place, signal) = next { place.signal.fulfil(signal) }
    }

    private static var impatient: DatabaseError {
        DatabaseError(
            .unavailable, "the writes before this one got no answer from PostgreSQL; nothing was written, try again")
    }
}

/// The outcome of the commit of a change set.
enum CommitOutcome: Sendable {
    case committed
    /// Another commit has changed what the set expects; nothing of it was written.
    case stale
    case failed(any Error)

    /// Whether PostgreSQL gave no answer.
    var isUnanswered: Bool {
        guard case .failed(let error as DatabaseError) = self else { return false }
        return error.code == .unavailable
    }
}
