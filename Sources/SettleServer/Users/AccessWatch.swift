internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Ends the feeds and mobile connections of users who have lost access.
///
/// A request is authenticated once, and a feed that it opens may stay open for days. Every two seconds
/// (``ServerOptions/accessCheckInterval``) the watch checks all open feeds and connections. The account must still exist with the same password and the same roles,
/// the session or the token must be valid, and the user must still be able to read the database. Each node of a
/// shared store checks its own.
final class AccessWatch: Sendable {
    /// The permission of a request whose feed or connection stays open.
    struct Grant: Sendable {
        let user: User
        /// The rights that the route requires.
        let access: Route.Access
        let path: [String]
        let database: String?

        init(_ context: RequestContext, _ access: Route.Access) {
            user = context.user
            self.access = access
            path = context.request.target.segments
            database = context.parameters["db"]
        }

        /// Grants with the same key are checked together.
        fileprivate var key: Key {
            Key(
                name: user.name.map(ExactText.init), handler: user.handler.map(ExactText.init),
                roles: user.roles.map(ExactText.init), proof: user.proof, path: path.map(ExactText.init))
        }
    }

    fileprivate struct Key: Hashable {
        let name: ExactText?
        let handler: ExactText?
        let roles: [ExactText]
        let proof: User.Proof?
        let path: [ExactText]
    }

    private struct Entry: Sendable {
        let grant: Grant
        let end: @Sendable (String) -> Void
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
        var isRunning = false
    }

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "settle.access", qos: .utility)
    private let period: DispatchTimeInterval
    private let check: @Sendable ([Grant]) throws -> [String?]

    /// - Parameters:
    ///   - interval: The time between two rounds.
    ///   - check: Returns for each grant the reason why it has ended, or `nil` if it still holds; may block. If it
    ///     throws, all stay open until the next round.
    init(every interval: Duration, check: @escaping @Sendable ([Grant]) throws -> [String?]) {
        (period, self.check) = (.milliseconds(interval.milliseconds), check)
    }

    /// Watches an open feed or connection.
    ///
    /// - Parameters:
    ///   - grant: The permission that was given.
    ///   - end: Ends the feed or connection, with a reason; called at most once, and must not block.
    /// - Returns: A number for ``remove(_:)``.
    func add(_ grant: Grant, end: @escaping @Sendable (String) -> Void) -> Int {
        let (number, starts) = state.withLock { state in
            state.last += 1
            state.entries[state.last] = Entry(grant: grant, end: end)
            defer { state.isRunning = true }
            return (state.last, !state.isRunning)
        }
        if starts { schedule() }
        return number
    }

    /// Stops watching a feed or connection that its client or the server has ended.
    func remove(_ number: Int) { state.withLock { $0.entries[number] = nil } }

    /// Removes all entries.
    func close() { state.withLock { $0.entries = [:] } }

    private func schedule() {
        queue.asyncAfter(deadline: .now() + period) { [weak self] in self?.round() }
    }

    private func round() {
        let entries = state.withLock(\.entries)
        var groups: [Key: [Int]] = [:]
        for (number, entry) in entries { groups[entry.grant.key, default: []].append(number) }
        let numbers = Array(groups.values)
        let grants = numbers.compactMap { $0.first.flatMap { entries[$0]?.grant } }
        // If the store can't be read now, the next round reads it.
        if !grants.isEmpty, let answers = try? check(grants) {
            for case (let group, let reason?) in zip(numbers, answers) { for number in group { end(number, reason) } }
        }
        let goesOn = state.withLock { state in
            state.isRunning = !state.entries.isEmpty
            return state.isRunning
        }
        if goesOn { schedule() }
    }

    private func end(_ number: Int, _ reason: String) {
        let entry = state.withLock { $0.entries.removeValue(forKey: number) }
        entry?.end(reason)
    }
}
