/// What waits for a worker, by turns of the owners.
///
///     owners in turn:   a ─ b ─ c ─ a …       each with its calls in order
///
/// An owner one of whose scripts had to be stopped lately waits until nobody else does. So a hundred endless loops in one
/// database cost the others one turn in two, and later less.
struct ScriptQueue {
    private var waiting: [String: [ScriptCall]] = [:]
    private var turns: [String] = []
    /// Until when an owner waits behind all others, in milliseconds.
    private var delayed: [String: Int64] = [:]
    private(set) var count = 0

    /// For how long an owner waits behind the others, in milliseconds.
    private static let delay: Int64 = 30_000

    /// Adds a call behind the others of its owner.
    mutating func add(_ call: ScriptCall) {
        let owner = call.request.source.owner
        if waiting[owner] == nil { turns.append(owner) }
        waiting[owner, default: []].append(call)
        count += 1
    }

    /// Takes the next call.
    ///
    /// - Parameters:
    ///   - now: The time, in milliseconds.
    ///   - isAllowed: Whether an owner may have one more under way.
    /// - Returns: The call; `nil` when none may be begun.
    mutating func take(now: Int64, isAllowed: (_ owner: String, _ isDelayed: Bool) -> Bool) -> ScriptCall? {
        let next =
            turns.firstIndex { !isDelayed($0, now) && isAllowed($0, false) }
            ?? turns.firstIndex { isDelayed($0, now) && isAllowed($0, true) }
        guard let next else { return nil }
        let owner = turns.remove(at: next)
        guard var calls = waiting.removeValue(forKey: owner), !calls.isEmpty else { return nil }
        let call = calls.removeFirst()
        if !calls.isEmpty {
            waiting[owner] = calls
            turns.append(owner)
        }
        count -= 1
        return call
    }

    /// Takes note that a script of an owner had to be stopped.
    mutating func delay(_ owner: String, now: Int64) {
        delayed = delayed.filter { $0.value > now }
        delayed[owner] = now + Self.delay
    }

    /// Takes all there is.
    mutating func takeAll() -> [ScriptCall] {
        defer { (waiting, turns, count) = ([:], [], 0) }
        return waiting.values.flatMap { $0 }
    }

    private func isDelayed(_ owner: String, _ now: Int64) -> Bool { (delayed[owner] ?? 0) > now }
}
