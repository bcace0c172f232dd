internal import SettleCore
internal import SettleDatabase

/// Chooses the free jobs that a node takes, and the jobs that it gives back so that waiting ones can run.
extension LeaseKeeping {
    /// Reads the leases of databases with wanted leases that this node does not have.
    mutating func looks() -> [Action] {
        guard !isStopping else { return [] }
        let lacking = Set(wishes.keys.filter { holdings[$0] == nil }.map(\.database))
        return lacking.sorted().compactMap { database in
            guard let place = places[database], !place.isListing, place.taking == nil else { return nil }
            places[database]?.isListing = true
            return .list(database)
        }
    }

    /// Records the nodes, and which leases are free.
    mutating func record(_ nodes: [LeaseName: String], of database: String, _ now: Duration) {
        places[database]?.nodes = Set(nodes.values)
        let isKnown = places[database]?.isKnown == true
        for (name, wish) in wishes where name.database == database && holdings[name] == nil && !wish.isAsked {
            // Until the other nodes know of this node, it does not know of those that started at the same time.
            guard isKnown || name.kind == .node else { continue }
            wishes[name]?.freeSince = nodes[name] == nil ? wish.freeSince ?? now : nil
        }
        // A node of this name is known; it may be an earlier process of this node.
        if nodes[LeaseName(database, .node, node)] != nil { places[database]?.isKnown = true }
    }

    /// Takes free leases in a database, if they come first among the free leases of all databases.
    mutating func acquire(in database: String, _ now: Duration) -> [Action] {
        let free = wishes.compactMap { name, wish -> (name: LeaseName, since: Duration)? in
            guard wish.count > 0, holdings[name] == nil, !wish.isAsked else { return nil }
            return wish.freeSince.map { (name, $0) }
        }
        let others = free.map(\.name).filter { $0.database == database && $0.kind != .run }.sorted()
        let names = others + first(of: free, now).filter { $0.database == database }
        guard !names.isEmpty else { return [] }
        for name in names { wishes[name]?.isAsked = true }
        places[database]?.taking = Place.Call(content: names, sent: now)
        return [.take(database, names)]
    }

    /// The jobs for which there is room, most urgent first.
    private func first(of free: [(name: LeaseName, since: Duration)], _ now: Duration) -> [LeaseName] {
        guard spareRoom > 0 else { return [] }
        return free.compactMap { name, since -> (since: Duration, rank: UInt64, name: LeaseName)? in
            guard name.kind == .run, let place = places[name.database] else { return nil }
            let rank = name.rank(of: node)
            let isPreferred = place.nodes.allSatisfy { name.rank(of: $0) <= rank }
            // If another node is preferred, it has looked since then and had no room.
            guard isPreferred || now - since >= Self.look / 2 else { return nil }
            return (since, rank, name)
        }
        .sorted { ($0.since, $1.rank, $0.name) < ($1.since, $0.rank, $1.name) }
        .prefix(spareRoom).map(\.name)
    }

    /// The number of further jobs for which there is room.
    private var spareRoom: Int {
        let held = holdings.keys.count { $0.kind == .run && standings[$0] != .resting }
        return room - held - wishes.count { $0.key.kind == .run && $0.value.isAsked }
    }

    /// Gives back jobs that had their turn, as many as there are jobs that wait for room on any node.
    mutating func endTurns(_ now: Duration) -> [Action] {
        guard spareRoom <= 0 else { return [] }
        let waiting = wishes.count { name, wish in
            guard name.kind == .run, wish.count > 0, holdings[name] == nil, !wish.isAsked else { return false }
            return wish.freeSince.map { now - $0 > Self.look * 2 } ?? false
        }
        let runs = holdings.filter { $0.key.kind == .run }
        let needed = waiting - runs.values.count(where: \.isLeaving)
        let served = runs.filter { !$0.value.isLeaving && standings[$0.key] == .served }
        return served.sorted { ($0.value.start, $0.key) < ($1.value.start, $1.key) }
            .prefix(max(0, needed)).flatMap { leave($0.key) }
    }

    mutating func took(_ leases: [JobLease], in database: String, _ now: Duration) -> [Action] {
        guard let call = places[database]?.taking else {
            // No lease of the database is wanted any longer.
            return leases.isEmpty ? [] : [.release(database, leases)]
        }
        places[database]?.taking = nil
        var given = Dictionary(leases.map { (ExactText($0.job), $0) }) { first, _ in first }
        var (actions, unused): ([Action], [JobLease]) = ([], [])
        for name in call.content {
            wishes[name]?.isAsked = false
            if name.kind == .node { places[database]?.isKnown = true }
            guard let lease = given.removeValue(forKey: ExactText(name.job)) else {
                actions += forgetIfDone(name)
                continue
            }
            guard wishes[name]?.count ?? 0 > 0, !isStopping, now - call.sent < JobLease.stopAfter else {
                unused.append(lease)
                actions += forgetIfDone(name)
                continue
            }
            lastRun += 1
            holdings[name] = Holding(lease: lease, renewed: call.sent, run: lastRun, start: now)
            standings[name] = .working
            if name.kind != .node { actions.append(.start(name, run: lastRun)) }
        }
        return actions + (unused.isEmpty ? [] : [.release(database, unused)])
    }
}
