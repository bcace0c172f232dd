internal import SettleDatabase
internal import SettlePlatform

/// The state of a database as this node knows it, and who is notified when it moves on.
///
/// Commits of this node and of others come in any order; the state never goes back.
final class FollowedState: Sendable {
    private struct State {
        var newest: DatabaseState
        var readAt: ContinuousClock.Instant?
        /// The age of design documents that the listener was notified of.
        var announcedDesignAge: Int64
        var listener: (@Sendable (CommitNotice) -> Void)?
    }

    private let state: Guarded<State>
    /// Taken by who notifies, so that notices come in the order of commits.
    private let announcing = Guarded(())

    init(_ newest: DatabaseState) {
        state = Guarded(State(newest: newest, announcedDesignAge: newest.designAge))
    }

    func listen(_ notify: @escaping @Sendable (CommitNotice) -> Void) { state.withLock { $0.listener = notify } }

    /// The age of the design documents that observers know. They are notified before this changes, so that a write is never
    /// checked against functions older than this age says.
    var announcedDesignAge: Int64 { state.withLock { $0.announcedDesignAge } }

    /// Whether the state was read since the request of this thread began.
    var isFresh: Bool {
        guard let moment = state.withLock({ $0.readAt }) else { return false }
        return Freshness.accepts(readAt: moment)
    }

    /// Notes that the newest state was read by a question that was sent at a moment.
    func note(readAt moment: ContinuousClock.Instant) {
        state.withLock { $0.readAt = max($0.readAt ?? moment, moment) }
    }

    /// Moves on to a state, and notifies the listener if something changed or the commit is this node's.
    func follow(_ next: DatabaseState, _ settings: SettingsCache, isForeign: Bool) {
        announcing.withLock { _ in
            let (notice, listener) = state.withLock { state -> (CommitNotice?, (@Sendable (CommitNotice) -> Void)?) in
                let old = state.newest
                let isNewer =
                    next.sequence > old.sequence || next.settingsAge > old.settingsAge || next.designAge > old.designAge
                guard isNewer || !isForeign else { return (nil, nil) }
                state.newest.sequence = max(old.sequence, next.sequence)
                state.newest.settingsAge = max(old.settingsAge, next.settingsAge)
                state.newest.designAge = max(old.designAge, next.designAge)
                return (
                    CommitNotice(
                        sequence: UpdateSequence(state.newest.sequence), changesDesign: next.designAge > old.designAge,
                        changesSettings: isForeign && next.settingsAge > old.settingsAge, isForeign: isForeign,
                        changesDocuments: next.sequence > old.sequence), state.listener
                )
            }
            settings.expect(next.settingsAge)
            guard let notice else { return }
            listener?(notice)
            state.withLock { $0.announcedDesignAge = max($0.announcedDesignAge, next.designAge) }
        }
    }
}
