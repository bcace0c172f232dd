internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Begins the next calls of a flow as soon as they are possible.
extension Flow {
    /// Begins every call that may begin.
    mutating func advance(_ actions: inout [FlowAction]) {
        while store(&actions) {}
        if isStopping {
            guard storing == 0, fetched.isEmpty else { return }
            isOver = true
            return actions.append(.end(nil))
        }
        while fetch(&actions) {}
        while compare(&actions) {}
        read(&actions)
        if hasReachedEnd, !settings.isContinuous, tracker.openCount == 0 {
            isOver = true
            actions.append(.end(nil))
        }
    }

    /// Reads more changes while there is not enough work.
    private mutating func read(_ actions: inout [FlowAction]) {
        let limit = settings.limits.changes
        guard !isReading, settings.isContinuous || !hasReachedEnd, unread.count + parked.count < limit,
            wanted.count / 2 < limit
        else { return }
        isReading = true
        var request = ChangesRequest(
            since: since, limit: limit, wait: settings.isContinuous && hasReachedEnd ? settings.longestWait : nil,
            filter: settings.filter)
        request.wantsContents = wantsContents
        call(.read(request), failures: request.wait == nil ? 0 : failedWaits, &actions)
    }

    /// Whether the target probably lacks most of what is read next: it lacked most of what was compared, or this is the beginning of
    /// a first replication.
    private var wantsContents: Bool {
        !hasReachedEnd && !settings.hasOnlyWinners && counts.revisionsMissing >= counts.revisionsPresent
            && (settings.start.isStart || counts.revisionsChecked > 0)
    }

    /// Compares the next changes. Changes of documents that are already in progress wait.
    private mutating func compare(_ actions: inout [FlowAction]) -> Bool {
        guard comparing < 2, !unread.isEmpty, wanted.count / 2 < settings.limits.revisions else { return false }
        var rows: [FlowRow] = []
        while rows.count < settings.limits.changes, let row = unread.popFirst() {
            if onTheWay.insert(row.change.id).inserted { rows.append(row) } else { park(row) }
        }
        guard !rows.isEmpty else { return false }
        comparing += 1
        call(.compare(rows), &actions)
        return true
    }

    private mutating func park(_ row: FlowRow) {
        guard let other = parked[row.change.id] else {
            parked[row.change.id] = row
            return
        }
        // A retried change may come after a newer one.
        var newest = row.number > other.number ? row : other
        let older = row.number > other.number ? other : row
        newest.earlier += older.earlier + [older.number]
        newest.failed.formUnion(older.failed)
        parked[row.change.id] = newest
    }

    /// Fetches the next revisions, if there is memory for them and the target keeps up: what waits for it counts like a request that runs,
    /// since more would only take memory.
    private mutating func fetch(_ actions: inout [FlowAction]) -> Bool {
        let (fetches, batch) = (settings.limits.fetches, settings.limits.revisions)
        guard fetching < fetches, !wanted.isEmpty, fetched.count + fetching * sizer.revisions < fetches * batch
        else { return false }
        let free = settings.limits.bytes - bytesOnTheWay
        let share = max(1, settings.limits.bytes / 2 / fetches)
        // If nothing else is in progress, fetch the next revision however large it is.
        guard free >= share || fetching + storing == 0 && fetched.isEmpty else { return false }
        var jobs: [FlowJob] = []
        var count = 0
        while count < sizer.revisions, jobs.count < fetchSearch.most, let job = wanted.popFirst() {
            count += job.requests.count
            jobs.append(job)
        }
        let budget = min(max(free, 1), share)
        fetching += 1
        bytesOnTheWay += budget
        call(.fetch(jobs, budget: budget), &actions)
        return true
    }

    /// Stores fetched revisions in batches. While a batch is being stored, only a full batch is begun.
    private mutating func store(_ actions: inout [FlowAction]) -> Bool {
        guard storing < settings.limits.stores, !fetched.isEmpty else { return false }
        guard storing == 0 || fetched.count >= sizer.revisions else { return false }
        var jobs: [FlowJob] = []
        var count = 0
        while count < settings.limits.revisions, jobs.count < storeSearch.most, let job = fetched.popFirst() {
            count += job.received.count
            jobs.append(job)
        }
        storing += 1
        call(.store(jobs), &actions)
        return true
    }

    /// Ends the work on a document, whether it succeeded or not.
    mutating func finish(_ job: FlowJob, _ actions: inout [FlowAction]) {
        let isRefused = job.report.problems.contains { $0.kind == .refused }
        let isFailed = job.report.problems.contains { $0.kind == .failed }
        finish(job.row, holds: isFailed || isRefused && settings.holdsRefused)
        if isFailed, settings.isContinuous, failedRows.count < SequenceTracker.maximumHeld {
            var row = job.row
            row.isCounted = true
            row.failed = Set(job.report.problems.filter { $0.kind == .failed }.map(\.revision))
            failedRows[row.change.id] = row
            call(.later([row]), after: settings.retry.failedDocumentsDelay, &actions)
        }
        actions.append(.report(job.report))
    }

    /// Ends the work on a change, whether it succeeded or not.
    mutating func finish(_ row: FlowRow, holds: Bool) {
        let id = row.change.id
        for number in row.earlier + [row.number] {
            if holds { tracker.hold(number) } else { tracker.finish(number) }
        }
        if holds, held.count < SequenceTracker.maximumHeld {
            held[id, default: []].formUnion(row.earlier + [row.number])
        } else if !holds, !held.isEmpty, let numbers = held.removeValue(forKey: id) {
            for number in numbers { tracker.finish(number) }
        }
        onTheWay.remove(id)
        if !parked.isEmpty, let next = parked.removeValue(forKey: id) { unread.append(next) }
    }
}
