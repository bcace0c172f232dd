internal import Dispatch
internal import RevisionTree
internal import SettleDatabase
internal import SettleScripting

/// Sends the changes of a database, in any of the four ways.
///
/// While there is nothing to send it holds no thread, only its place: the next commit wakes it, or a timer for the next
/// sign of life or the end.
final class ChangesStream: ResponseStream {
    private struct State {
        var position: UpdateSequence
        /// The highest sequence that counts; for feeds that go backward the lowest that was shown.
        var through = UpdateSequence(.max)
        var left: Int
        var page = PageSize()
        var hasBegun = false
        var rows = 0
        var isDone = false
        var hasEnded = false
        /// When something was last sent, or a change last came, in nanoseconds.
        var lastSign: UInt64 = 0
        var isTimerSet = false
        /// After which sequence a notice is to be asked for.
        var needsNotice: UpdateSequence?
        var notice: Int?
        var isNoticed = true
        var wake: (@Sendable () -> Void)?
        /// Whether it counts as an open feed.
        var isCounted = false
        /// The page that a function is asked about, if one is.
        var asked: Asked?
    }

    /// A page of changes, and what a function thinks of them.
    private struct Asked {
        let page: [DocumentRecord]
        let newest: UpdateSequence
        /// What is still to be asked.
        var question: [[(leaf: RevisionNode, json: [UInt8])]]?
        var answer: Result<ScriptFilter.Chosen, ScriptError>?
    }

    private let database: Database
    private let query: ChangesQuery
    private let row: ChangeRow
    private let state: Guarded<State>
    /// Whether documents are shown, or looked at by the filter.
    private let needsContent: Bool
    private let heartbeat: UInt64?
    private let timeout: UInt64

    init(database: Database, query: ChangesQuery, filter: ChangesFilter, metrics: Metrics) throws {
        self.database = database
        self.query = query
        needsContent = query.hasDocuments || filter.needsContent
        let sequences = try WireSequence(database)
        row = ChangeRow(database: database, query: query, filter: filter, sequences: sequences, metrics: metrics)
        let since = try sequences.parse(query.since, in: database)
        state = Guarded(
            State(position: query.isDescending ? 0 : since, left: query.limit ?? .max, isDone: query.limit == 0))
        heartbeat = query.heartbeat.map { UInt64($0) * 1_000_000 }
        timeout = UInt64(min(query.timeout ?? ChangesQuery.defaultTimeout, ChangesQuery.defaultTimeout)) * 1_000_000
    }

    func begin(wake: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.wake = wake
            state.lastSign = Self.now
            state.isCounted = true
        }
        row.metrics.openedFeed()
    }

    func next() throws -> ResponseStep {
        let (step, seen, question) = try state.withLock { state in
            let step = try self.step(&state)
            defer {
                state.needsNotice = nil
                state.asked?.question = nil
            }
            return (step, state.needsNotice, state.asked?.question)
        }
        if let seen { askForNotice(after: seen) }
        if let question { row.filter.script?.ask(question) { [weak self] in self?.answer($0) } }
        return step
    }

    /// The next step; a feed whose database was deleted ends, where an answer of one text must be seen to be cut off.
    private func step(_ state: inout State) throws -> ResponseStep {
        do { return try nextStep(&state) } catch let error as DatabaseError
            where error.code == .closed && query.feed != .normal
        {
            state.hasEnded = true
            return .end
        }
    }

    private func nextStep(_ state: inout State) throws -> ResponseStep {
        if state.hasEnded { return .end }
        var bytes: [UInt8] = []
        if !state.hasBegun {
            state.hasBegun = true
            if isOneText { bytes += Array("{\"results\":[\n".utf8) }
        }
        let hasMore = try appendRows(to: &bytes, &state)
        if state.asked != nil, bytes.isEmpty { return .wait }
        if !state.isDone, hasMore || !bytes.isEmpty {
            if !bytes.isEmpty { state.lastSign = Self.now }
            return .piece(bytes)
        }
        if !state.isDone, !goesOn(state) { state.isDone = true }
        if state.isDone {
            try appendTail(to: &bytes, &state)
            state.hasEnded = true
            return .piece(bytes)
        }
        return try wait(&state)
    }

    func end() {
        let (notice, isCounted) = state.withLock { state in
            state.hasEnded = true
            state.wake = nil
            state.isNoticed = true
            defer { (state.notice, state.isCounted) = (nil, false) }
            return (state.notice, state.isCounted)
        }
        if isCounted { row.metrics.closedFeed() }
        if let notice { database.cancelNotice(notice) }
    }

    private var isOneText: Bool { query.feed == .normal || query.feed == .longpoll }

    /// Whether the feed waits for more when there are no changes; one that goes backward is at the end then.
    private func goesOn(_ state: State) -> Bool {
        if query.isDescending { return false }
        return switch query.feed {
        case .normal: false
        case .longpoll: state.rows == 0
        case .continuous, .eventsource: true
        }
    }

    /// Appends changes, at most as many as are looked at without giving way; says so when that was the last one there
    /// may be.
    ///
    /// A filter may show nothing of a large database, and while it looks for something nobody can end the feed.
    ///
    /// - Returns: Whether there may be more.
    private func appendRows(to bytes: inout [UInt8], _ state: inout State) throws -> Bool {
        for _ in 0..<Self.pagesAtOnce where !state.isDone && bytes.count < 64 * 1024 {
            let range = range(state)
            let limit = min(state.page.count, max(state.left, 1))
            guard let (page, newest, chosen) = try page(in: range, limit: limit, &state) else { return true }
            guard let last = page.last else {
                // A purge moves the sequence on without a change.
                if !query.isDescending { state.position = max(state.position, newest) }
                return false
            }
            let before = bytes.count
            defer { state.page.learn(count: page.count, bytes: bytes.count - before) }
            for (index, record) in page.enumerated() {
                if query.isDescending {
                    state.through = UpdateSequence(record.sequence.number - 1)
                }
                state.position = record.sequence
                guard let line = try row.bytes(record, chosen: chosen?[index]) else { continue }
                append(line, record.sequence, first: state.rows == 0, to: &bytes)
                state.rows += 1
                state.left -= 1
                if state.left == 0 {
                    state.isDone = true
                    return false
                }
            }
            if query.isDescending, last.sequence.number <= 1 { return false }
            // A filter may show nothing for a long time.
            if let heartbeat, Self.now - state.lastSign >= heartbeat {
                bytes += sign
                return true
            }
        }
        return !state.isDone
    }

    private static let pagesAtOnce = 4

    /// What is left of the changes.
    private func range(_ state: State) -> SequenceRange {
        query.isDescending
            ? SequenceRange(after: 0, through: state.through, descending: true) : SequenceRange(after: state.position)
    }

    /// Has a function asked about the first changes and waits for it, so that what it does wrong can still be told.
    ///
    /// - Throws: ``ScriptError``; ``DatabaseError``.
    func prepare() throws {
        let question = try state.withLock { state in
            _ = try page(in: range(state), limit: 1, &state)
            defer { state.asked?.question = nil }
            return state.asked?.question
        }
        guard let question, let script = row.filter.script else { return }
        let (done, box) = (DispatchSemaphore(value: 0), Guarded<Result<ScriptFilter.Chosen, ScriptError>?>(nil))
        script.ask(question) { answer in
            box.withLock { $0 = answer }
            done.signal()
        }
        done.wait()
        let answer = box.withLock { $0 }
        _ = try answer?.get()
        state.withLock { $0.asked?.answer = answer }
    }

    /// The next changes and, where a function was asked, what it lets through of each; `nil` while it is asked.
    private func page(
        in range: SequenceRange, limit: Int, _ state: inout State
    ) throws -> (page: [DocumentRecord], newest: UpdateSequence, chosen: ScriptFilter.Chosen?)? {
        if let asked = state.asked {
            guard let answer = asked.answer else { return nil }
            state.asked = nil
            return (asked.page, asked.newest, try answer.get())
        }
        // Of one state: what is committed behind the page must come later, and must not be passed over.
        return try database.snapshot {
            let newest = try database.lastSequence()
            let isAsked = row.filter.script != nil
            let page = try database.records(
                changedIn: range, limit: isAsked ? state.page.count : limit, withContent: needsContent)
            guard isAsked, !page.isEmpty else { return (page, newest, nil) }
            state.asked = Asked(page: page, newest: newest, question: try page.map(row.candidates))
            return nil
        }
    }

    private func append(_ row: [UInt8], _ sequence: UpdateSequence, first: Bool, to bytes: inout [UInt8]) {
        switch query.feed {
        case .normal, .longpoll:
            if !first { bytes += Array(",\r\n".utf8) }
            bytes += row
        case .continuous:
            bytes += row
            bytes.append(UInt8(ascii: "\n"))
        case .eventsource:
            bytes += Array("data: ".utf8) + row + Array("\nid: \"\(self.row.sequences.text(sequence))\"\n\n".utf8)
        }
    }

    private func appendTail(to bytes: inout [UInt8], _ state: inout State) throws {
        let last = state.position
        let pending = try database.count(
            changedIn: query.isDescending ? SequenceRange(after: 0, through: state.through) : SequenceRange(after: last)
        )
        let tail = "\"last_seq\":\"\(row.sequences.text(last))\",\"pending\":\(pending)}\n"
        switch query.feed {
        case .normal, .longpoll: bytes += Array("\n],\n\(tail)".utf8)
        case .continuous: bytes += Array("{\(tail)".utf8)
        case .eventsource: break
        }
    }

    /// A sign of life.
    private var sign: [UInt8] { Array((query.feed == .eventsource ? "event: heartbeat\ndata: \n\n" : "\n").utf8) }

    private static let longestTimer: UInt64 = 60_000_000_000

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}

extension ChangesStream {
    /// Gives a sign of life, ends, or waits.
    private func wait(_ state: inout State) throws -> ResponseStep {
        let silence = Self.now - state.lastSign
        if let heartbeat {
            if silence >= heartbeat {
                state.lastSign = Self.now
                return .piece(sign)
            }
        } else if silence >= timeout {
            var bytes: [UInt8] = []
            try appendTail(to: &bytes, &state)
            state.hasEnded = true
            return .piece(bytes)
        }
        setTimer(&state, after: (heartbeat ?? timeout) - silence)
        if state.isNoticed {
            state.isNoticed = false
            state.needsNotice = state.position
        }
        return .wait
    }

    /// Asks for a notice of the next commit; not under the lock, for it may come at once.
    private func askForNotice(after seen: UpdateSequence) {
        let number = database.notify(after: seen) { [weak self] in self?.change(goesOn: $0) }
        let isLate = state.withLock { state in
            if !state.isNoticed { state.notice = number }
            return state.hasEnded
        }
        if isLate { database.cancelNotice(number) }
    }

    /// A function has answered.
    private func answer(_ answer: Result<ScriptFilter.Chosen, ScriptError>) {
        let wake = state.withLock { state in
            state.asked?.answer = answer
            return state.wake
        }
        wake?()
    }

    /// Something was committed, or the database is closed.
    private func change(goesOn: Bool) {
        let wake = state.withLock { state in
            (state.isNoticed, state.notice) = (true, nil)
            if !goesOn { state.hasEnded = true }
            return state.wake
        }
        wake?()
    }

    /// Sees that it is woken after a while; one timer at a time, which may come too early and is set again then. It
    /// outlives the feed, so it is never a long one.
    private func setTimer(_ state: inout State, after nanoseconds: UInt64) {
        guard !state.isTimerSet else { return }
        state.isTimerSet = true
        let delay = DispatchTimeInterval.nanoseconds(Int(min(nanoseconds, Self.longestTimer)))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in
            let wake = self?.state.withLock { state in
                state.isTimerSet = false
                return state.wake
            }
            wake?()
        }
    }
}
