internal import SettleDatabase

extension ServerState {
    /// Runs a closure that answers a request, on a thread that may wait.
    ///
    /// On a shared store one question comes first: what other nodes have changed in the request's database, in `_users` and in the
    /// server's settings. What it finds out counts until the request is answered.
    ///
    /// - Throws: ``DatabaseError`` with code `unavailable` when the store can't be asked, and what the closure throws.
    func answering<Result>(about database: String?, _ body: () throws -> Result) throws -> Result {
        try whileFresh {
            if databases.isShared {
                let names = database.map { $0 != "_users" && DocumentStore.isName($0) ? [$0] : [] } ?? []
                do { try databases.freshen(names + ["_users"]) } catch let error as DatabaseError
                    where error.code == .newerFormat
                {
                    // Another node can answer.
                    throw HTTPError(503, "service_unavailable", error.message)
                }
                try administration.follow()
            }
            return try body()
        }
    }

    /// Makes the watch over open feeds and connections.
    static func makeWatch(
        _ databases: DatabasePool, _ administration: Administration, _ authenticator: Authenticator,
        _ access: AccessCheck
    ) -> AccessWatch {
        AccessWatch { grants in
            let ask: () -> [String?] = {
                grants.map { grant in
                    do {
                        if let end = try authenticator.end(of: grant.user) { return end }
                        try access.check(
                            grant.access, grant.user, path: grant.path, database: grant.database, method: "GET",
                            in: databases)
                        return nil
                    } catch let error as HTTPError where error.isAboutRights { return error.reason } catch {
                        // A database that can't be read must not keep the others from being asked about.
                        return nil
                    }
                }
            }
            guard databases.isShared else { return ask() }
            return try Freshness.answering {
                try databases.freshen(Array(Set(grants.compactMap(\.database) + ["_users"])))
                try administration.follow()
                return ask()
            }
        }
    }

    /// Runs a closure that goes on with a request on another thread: it asks once for the state of a shared database that it uses
    /// many times.
    func whileFresh<Result>(_ body: () throws -> Result) rethrows -> Result {
        databases.isShared ? try Freshness.answering(body) : try body()
    }
}
