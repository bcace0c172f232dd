internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// What validation functions have said of the revisions of one write, and which they have to be asked about yet.
///
/// A question is about an item of the write and the parent it gets. Another parent makes it another question; so an answer
/// never counts for what was stored meanwhile by somebody else, or by the same write.
final class ValidationAnswers: Sendable {
    /// An item and its parent.
    struct Key: Hashable {
        let index: Int
        let parent: RevisionID?
    }

    /// A revision that nobody was asked about yet.
    struct Open {
        let key: Key
        let new: Document
        let isParentDeleted: Bool
    }

    private struct State {
        var answers: [Key: DatabaseError?] = [:]
        var open: [Open] = []
    }

    private let state = Guarded(State())

    /// Inside of a transaction: lets a revision pass that was asked about and is allowed.
    ///
    /// - Throws: ``DatabaseError`` with code `refused`: why it was refused, or that it was not asked about, which is noted.
    func check(_ index: Int, _ context: ValidationContext) throws {
        // Those are for administrators, and no function has a say in them.
        guard !context.newRevision.id.isDesign else { return }
        let parent = context.currentRevision
        let key = Key(index: index, parent: parent?.revision)
        let answer = state.withLock { state -> DatabaseError?? in
            if let known = state.answers[key] { return .some(known) }
            state.open.append(
                Open(key: key, new: context.newRevision, isParentDeleted: parent?.isDeleted ?? false))
            return nil
        }
        guard let answer else {
            throw DatabaseError(.refused, "the validation functions were not asked about \"\(context.newRevision.id)\"")
        }
        if let answer { throw answer }
    }

    /// Takes note of an answer: why a revision is refused, or `nil`.
    func set(_ answer: DatabaseError?, _ key: Key) { state.withLock { $0.answers[key] = .some(answer) } }

    /// What has to be asked, since this was called last.
    func takeOpen() -> [Open] {
        state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
    }

    /// Forgets all answers, for the functions are others now.
    func removeAll() { state.withLock { $0 = State() } }
}
