internal import Settle

/// The stamps of all changes, to check the final values against.
///
/// Every change by a user has a time. In any order of exchanging and settling, and with any changes of wall clocks,
/// each path of the document must end with the latest of its changes, or be inside a value that was written as a
/// whole after it.
struct StampLedger {
    /// The latest time of each path.
    var latest: [String: AttributeClock] = [:]
    /// The top-level members that software without clocks has changed.
    var foreign: Set<String> = []
    /// Whether such software dropped the clocks of the whole document.
    var lostClocks = false

    /// Whether the stamps of a path are known.
    func covers(_ path: String) -> Bool { !foreign.contains { path == "/\($0)" || path.hasPrefix("/\($0)/") } }
}
