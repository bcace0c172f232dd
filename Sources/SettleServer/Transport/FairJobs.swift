/// Jobs that wait, of which each owner gets one in turn, and has no more than a share under way at a time.
struct FairJobs {
    /// A job, and on whose share it runs; the empty owner has no share.
    struct Item: Sendable {
        let owner: String
        let job: WorkerPool.Job
    }

    private struct Owner {
        /// What waits, from `next` on.
        var waiting: [Item] = []
        var next = 0
        var running = 0
        var hasWaiting: Bool { next < waiting.count }
    }

    private var owners: [String: Owner] = [:]
    /// Those who have jobs that may run, in the order of their turns; from `first` on.
    private var turns: [String] = []
    private var first = 0
    private let share: Int

    /// - Parameter share: How many jobs of one owner may run at the same time.
    init(share: Int = .max) { self.share = share }

    /// Adds a job behind those of its owner.
    mutating func add(_ item: Item) {
        let isFirst = owners[item.owner]?.hasWaiting != true
        owners[item.owner, default: Owner()].waiting.append(item)
        if isFirst, mayRun(item.owner) { turns.append(item.owner) }
    }

    /// Takes the next job that may run; ``finish(_:)`` has to be called behind it.
    mutating func take() -> Item? {
        guard first < turns.count else { return nil }
        let name = turns[first]
        first += 1
        if first == turns.count || first > 1000 {
            turns.removeFirst(first)
            first = 0
        }
        guard var owner = owners[name], owner.hasWaiting else { return nil }
        let item = owner.waiting[owner.next]
        owner.next += 1
        owner.running += 1
        if owner.next == owner.waiting.count || owner.next > 1000 {
            owner.waiting.removeFirst(owner.next)
            owner.next = 0
        }
        owners[name] = owner
        if owner.hasWaiting, mayRun(name) { turns.append(name) }
        return item
    }

    /// Says that a job is done.
    mutating func finish(_ item: Item) {
        guard var owner = owners[item.owner] else { return }
        let couldRun = mayRun(item.owner)
        owner.running -= 1
        owners[item.owner] = owner.running == 0 && !owner.hasWaiting ? nil : owner
        if !couldRun, owner.hasWaiting { turns.append(item.owner) }
    }

    private func mayRun(_ owner: String) -> Bool { owner.isEmpty || owners[owner]?.running ?? 0 < share }
}
