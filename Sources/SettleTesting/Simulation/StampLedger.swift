internal import Settle

/// What was stamped, and what must have become of it.
///
/// Every change a user makes bears a moment. Whatever the order in which replicas exchange and settle, and whatever becomes
/// of their wall clocks, each path of the document must end with the latest of its changes, or be inside of something that
/// was written as a whole after it.
struct StampLedger {
    /// The latest moment of each path.
    var latest: [String: AttributeClock] = [:]
    /// The top-level members that were changed by software which knows no clocks.
    var foreign: Set<String> = []
    /// Whether such software dropped the clocks of the whole document.
    var lostClocks = false

    /// Whether something is known of a path.
    func covers(_ path: String) -> Bool { !foreign.contains { path == "/\($0)" || path.hasPrefix("/\($0)/") } }
}
