/// The waiting calls, with owners taking turns.
///
///     owners in turn:   a ─ b ─ c ─ a …       each with its calls in order
///
/// An owner whose script was recently stopped waits until no other owner does. So a hundred endless loops in one
/// database cost the others one turn in two, and later less.
struct ScriptQueue {
    private var waiting: [String: [ScriptCall]] = [:]
    private var turns: [String] = []
    /// The time until which an owner has low priority, in milliseconds.
    private var delayed: [String: Int64] = [:]
    private(set) var count = 0

    /// How long an owner has low priority, in milliseconds.
    private static let delay: Int64 = 30_000

    /// Adds a call after the others of its owner.
    mutating func add(_ call: ScriptCall) {
        let owner = call.request.source.owner
        if waiting[owner] == nil { turns.append(owner) }
        waiting[owner, default: []].append(call)
        count += 1
    }

    /// Removes and returns the next call.
    ///
    /// - Parameters:
    ///   - now: The time, in milliseconds.
    ///   - isAllowed: Whether an owner may have one more running call.
    /// - Returns: The call; `nil` if none may start.
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

    /// Records that a script of an owner was stopped.
    mutating func delay(_ owner: String, now: Int64) {
        delayed = delayed.filter { $0.value > now }
        delayed[owner] = now + Self.delay
    }

    /// Removes and returns all calls.
    mutating func takeAll() -> [ScriptCall] {
        defer { (waiting, turns, count) = ([:], [], 0) }
        return waiting.values.flatMap { $0 }
    }

    private func isDelayed(_ owner: String, _ now: Int64) -> Bool { (delayed[owner] ?? 0) > now }
}
