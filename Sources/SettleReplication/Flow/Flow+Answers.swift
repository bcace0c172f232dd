internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Handles the answers to a flow's calls.
extension Flow {
    /// Handles a page of changes.
    mutating func receive(_ page: ChangesPage, of id: Int, _ actions: inout [FlowAction]) {
        guard case .read(let request) = end(id) else { return }
        isReading = false
        if request.wait != nil || !page.changes.isEmpty { failedWaits = 0 }
        if let last = page.last.number, let since = request.since.number, last < since {
            isOver = true
            return actions.append(.startOver)
        }
        counts.changesRead += page.changes.count { !$0.mayHaveLeft }
        counts.documentsFiltered += page.filtered
        let first = tracker.add(page.changes.map(\.sequence), through: page.last)
        for (offset, change) in page.changes.enumerated() {
            var row = FlowRow(number: first + offset, change: change)
            if settings.hasOnlyWinners { row.keepOnlyWinner() }
            unread.append(row)
        }
        hasReachedEnd = hasReachedEnd(page, request)
        pending = hasReachedEnd ? 0 : page.pending ?? 0
        since = page.last
    }

    /// Whether all existing changes were read.
    ///
    /// A one-shot replication ends at the position that the source had at the start, even if writes continue
    /// (SEMANTICS 92). If positions are not numbers, it ends when nothing is left, or when it has read twice as
    /// many changes as there were.
    private mutating func hasReachedEnd(_ page: ChangesPage, _ request: ChangesRequest) -> Bool {
        if page.changes.isEmpty, page.last == request.since || page.pending == nil && page.filtered == 0 { return true }
        if let pending = page.pending {
            if pending == 0 { return true }
            if maximumRows == nil { maximumRows = 2 * (tracker.nextRow + pending) + 1000 }
        }
        if settings.isContinuous { return false }
        if case .number = settings.end.json, let end = settings.end.number, let last = page.last.number {
            return last >= end
        }
        return tracker.nextRow >= maximumRows ?? .max
    }

    /// Handles the list of revisions that the target lacks.
    mutating func receive(_ differences: [RevisionsDiff], of id: Int, _ actions: inout [FlowAction]) {
        guard case .compare(let rows) = end(id) else { return }
        comparing -= 1
        // The differences are in the order of the rows.
        var (next, present) = (0, [DocumentID]())
        for row in rows {
            let isMissing = next < differences.count && differences[next].id == row.change.id
            if row.change.mayHaveLeft {
                if isMissing, !differences[next].possibleAncestors.isEmpty { reportLeft(row.change, &actions) }
                if isMissing { next += 1 }
                finish(row, holds: false)
                continue
            }
            guard isMissing else {
                count(row, missing: [])
                finish(row, holds: false)
                guard row.losers.isEmpty else {
                    reportLosers(row, &actions)
                    continue
                }
                present.append(row.change.id)
                continue
            }
            let missing = differences[next]
            next += 1
            count(row, missing: missing.missing)
            wanted.append(FlowJob(row, missing: missing))
        }
        if !present.isEmpty { actions.append(.present(present)) }
    }

    /// Reports a document that no longer passes the filter, and of which the target has an earlier state.
    private mutating func reportLeft(_ change: ChangedDocument, _ actions: inout [FlowAction]) {
        counts.documentsLeft += 1
        var report = DocumentReport(id: change.id, revisions: [], isDeleted: change.isDeleted)
        report.left = change.leaves.first
        actions.append(.report(report))
    }

    /// Reports a document whose winner the target has. Its other leaves stay at the source.
    private mutating func reportLosers(_ row: FlowRow, _ actions: inout [FlowAction]) {
        var report = DocumentReport(id: row.change.id, revisions: [], isDeleted: row.change.isDeleted)
        report.losers = row.losers
        actions.append(.report(report))
    }

    /// Counts the leaves of a change. If the change is retried, its other leaves are already counted, and its
    /// failed ones no longer count as failures.
    private mutating func count(_ row: FlowRow, missing: [RevisionID]) {
        let news = row.isCounted ? row.failed.union(missing).count : row.change.leaves.count
        counts.revisionsFailed -= row.failed.count
        counts.revisionsChecked += news - row.failed.count
        counts.revisionsMissing += missing.count - row.failed.count
        counts.revisionsPresent += news - missing.count
    }

    /// Handles fetched revisions: as many answers as fit into memory.
    mutating func receive(
        _ answers: [RevisionAnswer], of id: Int, _ time: Duration, _ jitter: Double, _ actions: inout [FlowAction]
    ) {
        guard !answers.isEmpty else {
            let error = PeerError(.badAnswer, "the source answered to a request for revisions with none")
            return fail(id, error, jitter, &actions)
        }
        guard case .fetch(let jobs, let budget) = end(id) else { return }
        fetchSearch.succeed()
        fetching -= 1
        bytesOnTheWay -= budget
        sizer.learn(answers.count, took: time)
        var (next, unanswered) = (0, [FlowJob]())
        for var job in jobs {
            let count = min(job.requests.count, answers.count - next)
            for (request, answer) in zip(job.requests.prefix(count), answers[next..<(next + count)]) {
                receive(answer, to: request, &job)
            }
            next += count
            job.requests.removeFirst(count)
            let isLarge = job.bytes > settings.limits.bytes / 2
            if job.requests.isEmpty || isLarge && !job.received.isEmpty {
                took(job, jitter, &actions)
            } else {
                unanswered.append(job)
            }
        }
        for job in unanswered.reversed() { wanted.putBack(job) }
    }

    private mutating func receive(_ answer: RevisionAnswer, to request: RevisionRequest, _ job: inout FlowJob) {
        switch answer {
        case .found(let revision):
            counts.revisionsRead += 1
            let bytes = revision.bytesInMemory
            job.received.append(revision)
            job.bytes += bytes
            bytesOnTheWay += bytes
        case .missing(let reason):
            counts.revisionsGone += 1
            job.report.problems.append(
                DocumentReport.Problem(
                    revision: request.revision, kind: .gone, error: PeerError(.notFound, reason)))
        case .failed(let error): job.failed.append((request, error))
        case .refused(let error):
            counts.revisionsRead += 1
            refuse(request.revision, error, &job)
        }
    }

    private mutating func refuse(_ revision: RevisionID, _ error: PeerError, _ job: inout FlowJob) {
        counts.revisionsRefused += 1
        job.report.problems.append(DocumentReport.Problem(revision: revision, kind: .refused, error: error))
    }

    /// Continues with a document when its revisions are fetched, or as many as fit into memory.
    mutating func took(_ job: FlowJob, _ jitter: Double, _ actions: inout [FlowAction]) {
        if job.received.isEmpty { settle(job, jitter, &actions) } else { fetched.append(job) }
    }

    /// Handles the outcomes of stored revisions.
    mutating func receive(
        _ outcomes: [StoreOutcome], of id: Int, _ jitter: Double, _ actions: inout [FlowAction]
    ) {
        guard case .store(let jobs) = end(id) else { return }
        storeSearch.succeed()
        storing -= 1
        var next = 0
        for var job in jobs {
            for revision in job.received {
                let outcome = next < outcomes.count ? outcomes[next] : .failed(Self.noOutcome)
                next += 1
                receive(outcome, of: revision, &job)
            }
            bytesOnTheWay -= job.bytes
            job.bytes = 0
            job.received = []
            // Continue with the rest of a document that did not fit into memory.
            if job.requests.isEmpty { settle(job, jitter, &actions) } else { wanted.putBack(job) }
        }
    }

    private static var noOutcome: PeerError {
        PeerError(.badAnswer, "the target did not say what became of the revision")
    }

    private mutating func receive(_ outcome: StoreOutcome, of revision: PeerRevision, _ job: inout FlowJob) {
        switch outcome {
        case .stored:
            counts.revisionsWritten += 1
            counts.bytesWritten = counts.bytesWritten.adding(clamped: revision.bytesToWrite)
        case .known: counts.revisionsKnown += 1
        case .refused(let error): refuse(revision.revision, error, &job)
        case .failed(let error):
            // An attachment may have been left out because the target has an ancestor, but the ancestor has lost
            // the content.
            let request = RevisionRequest(
                id: revision.id, revision: revision.revision, isDeletionAtSource: revision.isDeletionAtSource)
            job.failed.append((request, error))
        }
    }

    /// Ends the attempt for a document after all its answers; failed revisions are retried a few times.
    mutating func settle(_ job: FlowJob, _ jitter: Double, _ actions: inout [FlowAction]) {
        guard !job.failed.isEmpty else { return finish(job, &actions) }
        var job = job
        job.failures += 1
        guard job.failures <= settings.retry.documentRetries else {
            counts.revisionsFailed += job.failed.count
            job.report.problems += job.failed.map {
                DocumentReport.Problem(revision: $0.request.revision, kind: .failed, error: $0.error)
            }
            return finish(job, &actions)
        }
        let retryAfter = job.failed.compactMap(\.error.retryAfter).max()
        // A missing attachment is fetched whole at once; any other failure may need time.
        let isAtOnce = job.failed.allSatisfy { $0.error.code == .attachmentMissing }
        job.requests = job.failed.map(\.request)
        job.failed = []
        if isAtOnce { return wanted.append(job) }
        let delay = settings.retry.delay(after: job.failures, jitter: jitter, retryAfter: retryAfter)
        call(.again([job]), after: delay, &actions)
    }
}

extension PeerRevision {
    /// The size of its body and attachments in bytes.
    package var bytesToWrite: Int64 {
        attachments.reduce(Int64(body.utf8.count)) { sum, attachment in
            if case .stub = attachment.content { sum } else { sum.adding(clamped: attachment.encodedLength) }
        }
    }
}
