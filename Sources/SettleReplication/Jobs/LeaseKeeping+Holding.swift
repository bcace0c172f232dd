internal import SettleDatabase

/// Requests for leases; keeping, losing and returning them.
extension LeaseKeeping {
    mutating func want(_ name: LeaseName) {
        guard !isStopping else { return }
        if places[name.database] == nil {
            places[name.database] = Place()
            wishes[LeaseName(name.database, .node, node)] = Wish(count: 1)
        }
        if wishes[name] == nil { places[name.database]?.count += 1 }
        wishes[name, default: Wish()].count += 1
    }

    mutating func unwant(_ name: LeaseName) -> [Action] {
        guard let wish = wishes[name], wish.count > 0 else { return [] }
        wishes[name]?.count -= 1
        guard wish.count == 1 else { return [] }
        return holdings[name]?.isLeaving == false ? leave(name) : forgetIfDone(name)
    }

    /// Ends the run of a job, and then returns its lease.
    mutating func leave(_ name: LeaseName) -> [Action] {
        guard let run = holdings[name]?.run else { return [] }
        holdings[name]?.isLeaving = true
        return [.stop(name, run: run)]
    }

    mutating func ended(_ name: LeaseName, _ run: Int, _ now: Duration) -> [Action] {
        guard let holding = holdings[name], holding.isLeaving, holding.run == run else { return [] }
        holdings[name] = nil
        wishes[name]?.freeSince = holding.lease == nil ? nil : now
        return (holding.lease.map { [.release(name.database, [$0])] } ?? []) + forgetIfDone(name)
    }

    /// Removes a name that is no longer wanted and has no lease, and its database with the last such name.
    mutating func forgetIfDone(_ name: LeaseName) -> [Action] {
        guard let wish = wishes[name], wish.count == 0, !wish.isAsked, holdings[name] == nil else { return [] }
        wishes[name] = nil
        places[name.database]?.count -= 1
        guard places[name.database]?.count == 0 else { return [] }
        let sign = LeaseName(name.database, .node, node)
        (places[name.database], wishes[sign]) = (nil, nil)
        return holdings.removeValue(forKey: sign)?.lease.map { [.release(name.database, [$0])] } ?? []
    }

    /// Ends the runs whose leases were not renewed in time.
    mutating func endOldLeases(_ now: Duration) -> [Action] {
        let old = holdings.filter { $0.value.lease != nil && now - $0.value.renewed >= JobLease.stopAfter }
        return old.keys.sorted().flatMap { lose($0) }
    }

    private mutating func lose(_ name: LeaseName) -> [Action] {
        guard let run = holdings[name]?.run else { return [] }
        guard name.kind != .node else {
            holdings[name] = nil
            wishes[name]?.freeSince = nil
            return []
        }
        holdings[name]?.lease = nil
        holdings[name]?.isLeaving = true
        return [.suspend(name, run: run)]
    }

    /// Renews all leases of a database when one of them is due.
    mutating func renewals(_ now: Duration) -> [Action] {
        places.keys.sorted().compactMap { database in
            guard places[database]?.renewing == nil else { return nil }
            let held = holdings.filter { $0.key.database == database && $0.value.lease != nil }
            guard held.values.contains(where: { $0.isNew || now - $0.renewed >= Self.renewal }) else { return nil }
            let leases = held.compactMapValues(\.lease)
            places[database]?.renewing = Place.Call(content: leases, sent: now)
            return .renew(database, leases)
        }
    }

    mutating func renewed(_ kept: [JobLease]?, in database: String) -> [Action] {
        guard let call = places[database]?.renewing else { return [] }
        places[database]?.renewing = nil
        guard let kept else { return [] }
        let still = Set(kept)
        var (actions, strays): ([Action], [JobLease]) = ([], [])
        for (name, lease) in call.content.sorted(by: { $0.key < $1.key }) {
            guard holdings[name]?.lease == lease else {
                // The lease was given up during the renewal. Return it, so that other nodes need not wait until it
                // expires.
                if still.contains(lease) { strays.append(lease) }
                continue
            }
            if still.contains(lease) {
                holdings[name]?.renewed = call.sent
                holdings[name]?.isNew = false
            } else {
                actions += lose(name)
            }
        }
        return actions + (strays.isEmpty ? [] : [.release(database, strays)])
    }
}
