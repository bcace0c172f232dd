internal import SettlePlatform

/// How jobs begin to run, and what becomes of them then.
extension ReplicationSchedule {
    /// How long a run that has done nothing may take up room that others wait for.
    private static var patience: Duration { .seconds(60) }

    /// Starts jobs that wait, as far as there is room, and asks for the end of a turn where some have to wait.
    mutating func fill(_ now: Duration) -> [Action] {
        var actions: [Action] = []
        while !isStopped, runs.count < room, let name = dequeue(), let job = jobs[name] {
            lastRun += 1
            runs[lastRun] = Run(job: name, start: now, isContinuous: job.isContinuous)
            jobs[name]?.phase = .running(lastRun)
            actions.append(.start(name, run: lastRun))
        }
        if waitingCount > 0, !isRinging, !isStopped {
            isRinging = true
            actions.append(.ring)
        }
        return actions
    }

    mutating func end(_ number: Int, _ ending: Ending) -> [Action] {
        guard let run = runs.removeValue(forKey: number) else { return [] }
        let name = run.job
        if run.isRemoved {
            leaving[name] = nil
            // The next job of the name has waited for this.
            if jobs[name] != nil, !isStopped { enqueue(name) }
            return []
        }
        guard let job = jobs[name], !isStopped else { return [] }
        switch ending {
        case .completed where run.isEnding:
            jobs[name]?.failures = 0
            enqueue(name)
            return [.yielded(name)]
        case .failed where job.isRetried:
            jobs[name]?.phase = .crashing(run: number)
            jobs[name]?.failures += 1
            crashingCount += 1
            return [.retry(name, run: number, failures: job.failures + 1)]
        case .completed, .failed:
            jobs[name] = nil
            return [.forget(name)]
        }
    }

    /// Whether a run may be stopped to make room.
    func hasHadTurn(run: Int, _ progress: Progress, _ now: Duration) -> Bool {
        guard let run = runs[run], run.isContinuous else { return false }
        return now - run.start >= (progress == .beginning ? max(turn, Self.patience) : turn)
    }

    /// Stops runs whose turn is over, as many as others wait for: first those that can't reach a peer, then the oldest.
    mutating func endTurns(_ progress: [Int: Progress], _ now: Duration) -> [Action] {
        guard waitingCount > 0, !isStopped else {
            isRinging = false
            return []
        }
        let needed = waitingCount - runs.values.count(where: \.isEnding)
        let ended = progress.filter { number, progress in
            runs[number]?.isEnding == false && hasHadTurn(run: number, progress, now)
        }
        let first = ended.sorted { left, right in
            (left.value == .away) == (right.value == .away) ? left.key < right.key : left.value == .away
        }.prefix(max(0, needed))
        for (number, _) in first { runs[number]?.isEnding = true }
        return first.map { .stop(run: $0.key) } + [.ring]
    }
}

/// The queue of jobs that wait.
extension ReplicationSchedule {
    mutating func enqueue(_ name: String) {
        lastTicket += 1
        jobs[name]?.phase = .waiting(ticket: lastTicket)
        queue.append((name, lastTicket))
        waitingCount += 1
    }

    private mutating func dequeue() -> String? {
        while let (name, ticket) = queue.popFirst() {
            guard isWaiting(name, ticket) else { continue }
            waitingCount -= 1
            return name
        }
        return nil
    }

    private func isWaiting(_ name: String, _ ticket: Int) -> Bool {
        if case .waiting(ticket)? = jobs[name]?.phase { true } else { false }
    }

    mutating func remove(_ name: String) -> [Action] {
        switch jobs.removeValue(forKey: name)?.phase {
        case .waiting?:
            waitingCount -= 1
            tidyQueue()
        case .running(let run)?:
            leaving[name] = run
            runs[run]?.isEnding = true
            runs[run]?.isRemoved = true
            return [.stop(run: run)]
        case .crashing?: crashingCount -= 1
        case .blocked?, nil: break
        }
        return []
    }

    /// Drops the entries of jobs that don't wait any more, once most are such.
    private mutating func tidyQueue() {
        guard queue.count > 2 * waitingCount + 32 else { return }
        var tidy = Queue<(job: String, ticket: Int)>()
        while let entry = queue.popFirst() { if isWaiting(entry.job, entry.ticket) { tidy.append(entry) } }
        queue = tidy
    }
}
