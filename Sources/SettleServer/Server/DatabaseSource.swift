internal import SettleDatabase
internal import SettleViews

/// Where the databases of a request are found: a ``DatabasePool``, which may wait, or ``PromptDatabases``, which never do.
protocol DatabaseSource: Sendable {
    /// A database.
    ///
    /// - Throws: ``HTTPError/noDatabase``; ``NotAtHand`` where nothing may wait and it is not open.
    func source(_ name: String) throws -> any QuerySource

    /// A database that a server can do without; `nil` when there is none.
    ///
    /// - Throws: As ``source(_:)`` does.
    func sourceIfThere(_ name: String) throws -> (any QuerySource)?

    /// Who may use a database.
    ///
    /// - Throws: As ``source(_:)`` does, and what reading it throws.
    func security(of name: String) throws -> SecurityObject
}

/// The databases of a pool that are open, for reads that never wait.
struct PromptDatabases: DatabaseSource {
    private let pool: DatabasePool

    init(_ pool: DatabasePool) { self.pool = pool }

    func source(_ name: String) throws -> any QuerySource {
        if let database = pool.opened(name) { return PromptDatabase(database) }
        throw DocumentStore.isName(name) ? NotAtHand() as any Error : HTTPError.noDatabase
    }

    func sourceIfThere(_ name: String) throws -> (any QuerySource)? { pool.isMissing(name) ? nil : try source(name) }

    func security(of name: String) throws -> SecurityObject {
        guard let known = pool.knownSecurity(of: name) else { throw NotAtHand() }
        return known
    }
}
