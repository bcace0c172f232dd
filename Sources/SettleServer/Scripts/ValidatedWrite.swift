internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Writes several items. The validation functions check each item together with the parent that it really gets.
///
///     write   in a transaction: what is allowed is stored, what is refused is not, the rest is noted with its parent
///     ask     outside of it, so that no other writer waits for a script
///     write   what was noted, until nothing is
///
/// Most writes need one round of checks. More are needed if items of one document follow each other, or if another
/// client writes the same documents.
struct ValidatedWrite<Outcome> {
    /// The context of a new revision that a function sees in addition to the revision's content.
    struct View {
        /// The path to the revision or, for an edit, to its parent.
        let history: RevisionHistory?
        /// Whether the function sees the parent. It does not if the edit recreates a deleted document.
        let hasParent: Bool
    }

    let database: Database
    let context: RequestContext
    /// Whether items depend on items of other documents, so that all are written together.
    var isWhole = false
    /// Returns the context of an item.
    let view: (ValidationAnswers.Open) -> View
    /// Returns the outcome of a refused item.
    let refused: (DatabaseError) -> Outcome
    /// Whether an outcome is that of a refused item.
    let isRefused: (Outcome) -> Bool

    /// The maximum number of times that an item is tried.
    private var maximumAttempts: Int { 24 }
    /// The round from which on items are written one by one, so that the work for a long chain is not quadratic.
    private var firstSingleRound: Int { 4 }
    /// The maximum size of the documents that are checked at a time, in bytes.
    private var pieceLength: Int { 4 << 20 }

    /// Writes all items.
    ///
    /// - Parameters:
    ///   - ids: The document of each item. The items of one document are written in order.
    ///   - functions: The validation functions, as they were read.
    ///   - write: Writes some items, given by their indexes, and gets the outcomes that are known already. It calls
    ///     the check for each item with the item's position among the indexes.
    /// - Returns: The outcome of each item.
    /// - Throws: Errors of `write`, and ``HTTPError`` if changed functions can't be run.
    func run(
        _ ids: [DocumentID], _ functions: ValidationScripts,
        _ write: (_ indexes: [Int], _ known: [Outcome?], _ check: WriteCheck) throws -> [Outcome]
    ) throws -> [Outcome] {
        var functions = functions
        let answers = ValidationAnswers()
        var outcomes = [Outcome?](repeating: nil, count: ids.count)
        var pending = Array(ids.indices)[...]
        var (rounds, attempts) = (0, 0)
        while let first = pending.first {
            let turn = isWhole || rounds < firstSingleRound ? Array(pending) : [first]
            (rounds, attempts) = (rounds + 1, attempts + 1)
            guard attempts <= maximumAttempts else {
                outcomes[first] = refused(
                    DatabaseError(.conflict, "\"\(ids[first])\" keeps changing; try again"))
                (pending, attempts) = (pending.dropFirst(), 0)
                continue
            }
            let question: WriteCheck.Question = { place, context in try answers.check(turn[place], context) }
            let check = WriteCheck(designEpoch: functions.age, question: functions.isEmpty ? nil : question)
            let results: [Outcome]
            do { results = try write(turn, outcomes, check) } catch is WriteCheck.IsOld {
                functions = try ValidationScripts(context)
                answers.removeAll()
                continue
            }
            let open = answers.dequeueOpen()
            let left = left(of: turn, results, open, ids)
            let again = Set(left)
            for (index, result) in zip(turn, results) where !again.contains(index) { outcomes[index] = result }
            if turn.count == pending.count {
                pending = left[...]
            } else if left.isEmpty {
                pending = pending.dropFirst()
            }
            if left.isEmpty { attempts = 0 }
            try ask(open, functions, answers)
        }
        return outcomes.compactMap { $0 }
    }

    /// The items to write again: those that no function has checked, and refused ones that may depend on one of
    /// these.
    private func left(
        of turn: [Int], _ results: [Outcome], _ open: [ValidationAnswers.Open], _ ids: [DocumentID]
    ) -> [Int] {
        guard !open.isEmpty else { return [] }
        let unasked = Set(open.map(\.key.index))
        var waiting: Set<DocumentID> = []
        return zip(turn, results).filter { index, result in
            if unasked.contains(index) {
                waiting.insert(ids[index])
                return true
            }
            return isRefused(result) && (isWhole || waiting.contains(ids[index]))
        }.map(\.0)
    }

    /// Runs the functions for a bounded number of documents at a time.
    private func ask(
        _ open: [ValidationAnswers.Open], _ functions: ValidationScripts, _ answers: ValidationAnswers
    ) throws {
        var (keys, questions, length): ([ValidationAnswers.Key], [ValidationScripts.Question], Int) = ([], [], 0)
        func send() {
            for (key, refusal) in zip(keys, functions.refusals(of: questions)) { answers.set(refusal, key) }
            (keys, questions, length) = ([], [], 0)
        }
        for item in open {
            let question: ValidationScripts.Question
            do {
                // An item that has changed meanwhile is checked again in the next round.
                guard let next = try self.question(item) else { continue }
                question = next
            } catch let error as DatabaseError where error.code == .damagedDocument {
                // The parent is damaged, so a function can't see it.
                answers.set(error, item.key)
                continue
            }
            keys.append(item.key)
            questions.append(question)
            length += question.new.count + (question.old?.count ?? 0)
            if length >= pieceLength { send() }
        }
        send()
    }

    private func question(_ item: ValidationAnswers.Open) throws -> ValidationScripts.Question? {
        let view = view(item)
        let document = item.new
        let new = ScriptDocument.new(
            document.id, history: view.history, isDeleted: document.isDeleted, try document.body(), document.attachments
        )
        guard view.hasParent, let parent = item.key.parent else {
            return ValidationScripts.Question(new: new, old: nil)
        }
        guard let found = try DocumentLookup(source: database).find(.revision(parent), of: document.id) else {
            return nil
        }
        var options = DocumentOptions()
        options.hasRevisions = true
        let old = try DocumentPrinter(source: database, options: options)
            .print(found.revision, found.content, of: found.record, hasMeta: false).text.bytes
        return ValidationScripts.Question(new: new, old: old)
    }
}

// MARK: - ValidationAnswers

/// The verdicts of validation functions on the revisions of one write, and the revisions that they have not checked
/// yet.
///
/// A question is about an item of the write and its parent. With another parent it is another question. So a
/// verdict never applies to a revision whose parent has changed, by another client or by the same write.
final class ValidationAnswers: Sendable {
    /// An item and its parent.
    struct Key: Hashable {
        let index: Int
        let parent: RevisionID?
    }

    /// A revision that has not been checked yet.
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

    /// Called inside a transaction: lets a revision pass if it was checked and allowed.
    ///
    /// - Throws: ``DatabaseError`` with code `refused`: with the reason, or because the revision has not been
    ///   checked yet, which is recorded.
    func check(_ index: Int, _ context: ValidationContext) throws {
        // Only administrators write design documents, and validation functions don't apply to them.
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

    /// Stores a verdict: the reason of a refusal, or `nil`.
    func set(_ answer: DatabaseError?, _ key: Key) { state.withLock { $0.answers[key] = .some(answer) } }

    /// The questions since the last call.
    func dequeueOpen() -> [Open] {
        state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
    }

    /// Removes all verdicts, because the functions have changed.
    func removeAll() { state.withLock { $0 = State() } }
}
