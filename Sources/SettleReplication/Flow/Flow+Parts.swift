internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Handles calls that can't succeed as a whole.
extension Flow {
    /// Searches for the document at which the peer fails; see ``BatchBisection``.
    ///
    /// - Returns: Whether there are new actions. If not, the caller repeats the call unchanged.
    mutating func part(
        _ id: Int, _ call: Call, _ error: PeerError, _ jitter: Double, _ actions: inout [FlowAction]
    ) -> Bool {
        let (attempts, isEndless) = (settings.retry.attempts, settings.isContinuous)
        switch call.work {
        case .fetch(let jobs, let budget):
            let verdict = fetchSearch.judge(
                jobs.count, failures: call.failures, attempts: attempts, isEndless: isEndless)
            if case .again = verdict { return false }
            calls[id] = nil
            (fetching, bytesOnTheWay) = (fetching - 1, bytesOnTheWay - budget)
            guard case .guilty = verdict else {
                for job in jobs.reversed() { wanted.putBack(job) }
                return true
            }
            for job in jobs { failToFetch(job, error, jitter, &actions) }
        case .store(let jobs):
            let verdict = storeSearch.judge(
                jobs.count, failures: call.failures, attempts: attempts, isEndless: isEndless)
            if case .again = verdict { return false }
            calls[id] = nil
            storing -= 1
            guard case .guilty = verdict else {
                for job in jobs.reversed() { fetched.putBack(job) }
                return true
            }
            for job in jobs { failToStore(job, error, jitter, &actions) }
        default: return false
        }
        return true
    }

    /// Gives up the revisions of a document that can't be fetched: the fetched ones are stored, and the rest is
    /// listed.
    private mutating func failToFetch(
        _ job: FlowJob, _ error: PeerError, _ jitter: Double, _ actions: inout [FlowAction]
    ) {
        var job = job
        job.failed += job.requests.map { ($0, error) }
        job.failures = settings.retry.documentRetries
        job.requests = []
        took(job, jitter, &actions)
    }

    /// Gives up a document that can't be stored: all its revisions that are not stored are listed.
    private mutating func failToStore(
        _ job: FlowJob, _ error: PeerError, _ jitter: Double, _ actions: inout [FlowAction]
    ) {
        var job = job
        bytesOnTheWay -= job.bytes
        job.bytes = 0
        job.failed += job.received.map { revision in
            let request = RevisionRequest(
                id: revision.id, revision: revision.revision, isDeletionAtSource: revision.isDeletionAtSource)
            return (request, error)
        }
        job.received = []
        failToFetch(job, error, jitter, &actions)
    }

    /// Splits a call that the peer does not understand into smaller ones. A single document is refused.
    ///
    /// - Returns: Whether that was possible.
    mutating func split(
        _ id: Int, _ work: Call.Work, _ error: PeerError, _ jitter: Double, _ actions: inout [FlowAction]
    ) -> Bool {
        switch work {
        case .fetch(let jobs, let budget):
            calls[id] = nil
            (fetching, bytesOnTheWay) = (fetching - 1, bytesOnTheWay - budget)
            guard jobs.count == 1, let job = jobs.first else {
                sizer.halve()
                for job in jobs.reversed() { wanted.putBack(job) }
                return true
            }
            failToFetch(job, error, jitter, &actions)
        case .store(let jobs):
            calls[id] = nil
            guard jobs.count == 1, let job = jobs.first else {
                storing += 1
                call(.store(Array(jobs[..<(jobs.count / 2)])), &actions)
                call(.store(Array(jobs[(jobs.count / 2)...])), &actions)
                return true
            }
            calls[id] = Call(work: .store([job]))
            // An answer that can't be parsed is not a verdict on a document; an intermediary may have caused it.
            let outcome = error.code == .badAnswer ? StoreOutcome.failed(error) : .refused(error)
            receive(job.received.map { _ in outcome }, of: id, jitter, &actions)
        default: return false
        }
        return true
    }
}

// MARK: - BatchBisection

/// The search for the document that makes a server fail, among those of a call.
///
/// A server may fail permanently at one document: an index it can't write, or a proxy that rejects a word. Every
/// batch with that document fails, and the other documents would wait indefinitely. So after a few failures the
/// batches become smaller:
///
///     100 fail, fail, fail ─→ 50 fail ─→ 25 stored, 50 stored … 1 fails again and again ─→ listed as failed
///
/// Batches grow again with each success. After a failing document, the next ones are tried fewer times. If many
/// documents fail in a row and none succeeds, the server itself is failing: a one-shot replication ends, and a
/// continuous one continues at the pace of the first document.
struct BatchBisection: Sendable {
    /// The maximum number of documents in a call.
    private(set) var most = Int.max
    /// The number of failing documents since the last success.
    private var inARow = 0
    /// The number of times that a batch is tried whole before the search starts.
    private static let patience = 3
    /// The number of failing documents in a row above which the server is considered down.
    private static let maximumInARow = 10

    /// The conclusion from a failure.
    enum Verdict {
        /// The same call may succeed later.
        case again
        /// A smaller batch may succeed.
        case fewer
        /// This document is the cause.
        case guilty
    }

    /// Judges the failure of a call.
    ///
    /// - Parameters:
    ///   - count: The number of documents in the call.
    ///   - failures: The number of failures of the call, including this one.
    ///   - attempts: The number of times that a single document is tried.
    ///   - isEndless: Whether the replication continues when the server fails.
    /// - Returns: How to continue with the call.
    mutating func judge(_ count: Int, failures: Int, attempts: Int, isEndless: Bool) -> Verdict {
        if count > 1 {
            guard failures >= Self.patience || most < .max else { return .again }
            most = count / 2
            return .fewer
        }
        let isTriedEnough = failures >= attempts
        guard inARow < Self.maximumInARow ? isTriedEnough || inARow > 0 : isTriedEnough && isEndless else {
            return .again
        }
        inARow += 1
        return .guilty
    }

    /// Records a success.
    mutating func succeed() {
        inARow = 0
        most = most < 1 << 20 ? most * 2 : .max
    }
}
