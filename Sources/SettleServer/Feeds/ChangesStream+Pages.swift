internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleScripting

/// Reads changes for this feed alone: those of a filter that isn't shared, and those older than the hub's rows.
extension ChangesStream {
    /// Appends the rows of the next page.
    func appendOwn(to bytes: inout WireText, _ state: inout State) throws -> Progress {
        let limit = min(state.page.count, max(state.left, 1))
        guard let (page, newest, chosen) = try page(in: range(state), limit: limit, &state) else { return .pause }
        state.looksItself = false
        guard let last = page.last else {
            // A purge increases the sequence without a change.
            if !query.isDescending { state.position = max(state.position, newest) }
            return .end
        }
        let before = bytes.count
        defer { state.page.learn(count: page.count, bytes: bytes.count - before) }
        for (index, record) in page.enumerated() {
            if query.isDescending {
                state.through = UpdateSequence(record.sequence.number - 1)
            }
            state.position = record.sequence
            guard let line = try row.text(record, of: database, chosen: chosen?[index]) else { continue }
            row.append(line, record.sequence, isFirst: state.rows == 0, to: &bytes)
            state.rows += 1
            state.left -= 1
            if state.left == 0 {
                state.isDone = true
                return .end
            }
        }
        if query.isDescending, last.sequence.number <= 1 { return .end }
        return .page
    }

    /// The range of unread changes.
    private func range(_ state: State) -> SequenceRange {
        query.isDescending
            ? SequenceRange(after: 0, through: state.through, descending: true) : SequenceRange(after: state.position)
    }

    /// Runs a filter function for the first changes and waits for it, so that its error can still become the
    /// answer's status.
    ///
    /// - Throws: ``ScriptError``; ``DatabaseError``.
    func prepare() throws {
        let question = try state.withLock { state in
            _ = try page(in: range(state), limit: 1, &state)
            defer { state.asked?.question = nil }
            return state.asked?.question
        }
        guard let question, let script = row.filter.script else { return }
        let asked = Promise<Result<ScriptFilter.Chosen, ScriptError>>()
        script.ask(question) { asked.fulfil($0) }
        let answer = asked.wait()
        _ = try answer.get()
        state.withLock { $0.asked?.answer = answer }
    }

    /// The next changes and, with a filter function, the leaves that passed; `nil` while the function is running.
    private func page(
        in range: SequenceRange, limit: Int, _ state: inout State
    ) throws -> (page: [DocumentRecord], newest: UpdateSequence, chosen: ScriptFilter.Chosen?)? {
        if let asked = state.asked {
            guard let answer = asked.answer else { return nil }
            state.asked = nil
            return (asked.page, asked.newest, try answer.get())
        }
        // In a snapshot, so that changes committed after the page are read later instead of skipped.
        return try database.snapshot {
            let isAsked = row.filter.script != nil
            let page = try records(in: range, limit: isAsked ? state.page.count : limit)
            let newest = try database.lastSequence()
            guard isAsked, !page.isEmpty else { return (page, newest, nil) }
            let question = try page.map { try row.candidates(of: $0, in: database) }
            state.asked = Asked(page: page, newest: newest, question: question)
            return nil
        }
    }

    /// Reads the changes of a page. If the filter names a few documents, they are looked up, however many other
    /// documents have changed.
    private func records(in range: SequenceRange, limit: Int) throws -> [DocumentRecord] {
        guard let ids = try row.filter.namedDocuments(of: database) else {
            return try database.records(changedIn: range, limit: limit, withContent: row.needsContent)
        }
        let page = try ids.compactMap { try database.storedRecord(of: $0, withContent: false) }
            .filter { range.after < $0.sequence && $0.sequence <= range.through }
            .sorted { range.descending ? $0.sequence > $1.sequence : $0.sequence < $1.sequence }
            .prefix(limit)
        return row.needsContent ? try database.records(of: page.map(\.id)) : Array(page)
    }

    /// Receives the result of a filter function.
    func answer(_ answer: Result<ScriptFilter.Chosen, ScriptError>) {
        let wake = state.withLock { state in
            state.asked?.answer = answer
            return state.wake
        }
        wake?()
    }
}
