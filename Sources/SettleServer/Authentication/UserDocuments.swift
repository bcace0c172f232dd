internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The documents of `_users` that were looked up, for a server that would have to ask another machine for them again.
///
/// They count as long as the newest commit of `_users` is the one before which they were read, so a changed password counts at
/// once. How many are kept is bounded, and how large they are.
final class UserDocuments: Sendable {
    /// What authentication needs of a document.
    struct Found: Sendable {
        let body: DocumentBody
        let isConflicted: Bool
    }

    private struct State {
        weak var database: Database?
        var commit: Commit?
        /// By the name of the account; `nil` for one without a document.
        var found: [String: Found?] = [:]

        func isOf(_ users: Database, _ commit: Commit) -> Bool { database === users && self.commit == commit }
    }

    private let state = Guarded(State())
    private static let most = 1000
    private static let largest = 16 << 10

    /// The document of an account.
    ///
    /// - Parameters:
    ///   - name: The name of the account.
    ///   - users: The database `_users`.
    ///   - read: Reads the document, if it is not known.
    /// - Returns: The document, or `nil` if there is none.
    func find(_ name: String, in users: Database, _ read: () throws -> Found?) rethrows -> Found? {
        // Taken before the document is read: what is written meanwhile makes it old.
        guard let commit = users.newestCommit else { return try read() }
        if let known = state.withLock({ $0.isOf(users, commit) ? $0.found[name] : nil }) { return known }
        let found = try read()
        guard name.utf8.count + (found?.body.utf8.count ?? 0) <= Self.largest else { return found }
        state.withLock { state in
            if !state.isOf(users, commit) || state.found.count >= Self.most {
                state = State(database: users, commit: commit)
            }
            state.found[name] = .some(found)
        }
        return found
    }
}
