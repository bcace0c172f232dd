internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A write of several items, each of which the validation functions are asked about, on the parent it really gets.
///
///     write   in a transaction: what is allowed is stored, what is refused is not, the rest is noted with its parent
///     ask     outside of it, so that no other writer waits for a script
///     write   what was noted, until nothing is
///
/// One round of asking does for most writes. It takes more where items of one document follow on each other, or where somebody
/// else writes the same documents.
struct ValidatedWrite<Outcome> {
    /// The context of a new revision that a function sees besides its content.
    struct View {
        /// The path to it or, of an edit, to its parent.
        let history: RevisionHistory?
        /// Whether the parent is shown: not where a deleted document is made anew.
        let hasParent: Bool
    }

    let database: Database
    let context: RequestContext
    /// Whether items depend on others of other documents, so that they are written together.
    var isWhole = false
    /// Returns the context of an item that a function sees.
    let view: (ValidationAnswers.Open) -> View
    /// The outcome of an item that is kept out.
    let refused: (DatabaseError) -> Outcome
    /// Whether an outcome is that of an item that was kept out.
    let isRefused: (Outcome) -> Bool

    /// The number of times that an item is tried.
    private var maximumAttempts: Int { 24 }
    /// From which round on the items are written one by one, so that the work for a long chain does not grow with its square.
    private var firstSingleRound: Int { 4 }
    /// How many bytes of documents are asked about at a time.
    private var pieceLength: Int { 4 << 20 }

    /// Writes all items.
    ///
    /// - Parameters:
    ///   - ids: The document of each item; those of one document are written in their order.
    ///   - functions: The validation functions as they were read.
    ///   - write: Writes some items by their indexes, with the outcomes that are known already, and asks the check about each
    ///     by its place among those.
    /// - Returns: The outcome of each item.
    /// - Throws: What `write` throws, and ``HTTPError`` when functions that are new can't be asked.
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

    /// The items to write again: those that no function was asked about, and those that were kept out and may depend on one
    /// of these.
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

    /// Asks the functions, some documents at a time.
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
                // An item that is gone meanwhile is asked about again in the next round.
                guard let next = try self.question(item) else { continue }
                question = next
            } catch let error as DatabaseError where error.code == .damagedDocument {
                // A function that looks at the old revision can't be asked.
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

/// The verdicts of validation functions on the revisions of one write, and the revisions that they were not asked about yet.
///
/// A question is about an item of the write and the parent it gets. Another parent makes it another question; so an answer
/// never counts for a revision that was stored meanwhile by another client, or by the same write.
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

    /// The questions that arose since the last call.
    func dequeueOpen() -> [Open] {
        state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
    }

    /// Forgets all answers, for the functions are others now.
    func removeAll() { state.withLock { $0 = State() } }
}
