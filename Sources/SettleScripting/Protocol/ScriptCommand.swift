/// The commands of a worker.
enum ScriptCommand: UInt8, Sendable {
    /// Loads a context: one item, the JSON of a design document or of a view's functions.
    case load = 1
    /// Removes a context.
    case drop
    /// Checks that functions compile: items `["map", "name", "source"]`.
    case check
    /// Runs all map functions on documents, one per item; answers each with `[[[key,value],…],…]`, a list per
    /// function.
    case map
    /// Runs reduce functions: first the common item, then an item per reduction.
    case reduce
    /// Runs a validation function: the user and the security object, then items with the new document and the old
    /// one; answers `1` or the thrown value.
    case validate
    /// Runs a filter: its name and the request, then documents; answers `1` or `0` for each.
    case filter
    /// Runs a map function as a filter: its name, then documents; answers `1` or `0` for each.
    case filterByView
    /// Runs an update function: its name, the document, the request.
    case update
    /// Checks the syntax of sources: items `["function", "source"]`; answers `1` or `["message", line]`.
    case syntax
    /// Runs functions that are not stored: the functions, their context, an array of samples; answers what came of it.
    case trial

    /// The number of leading items, before those that are answered one by one.
    var leading: Int {
        switch self {
        case .load, .drop, .check, .map, .update, .syntax, .trial: 0
        case .reduce, .validate, .filterByView: 1
        case .filter: 2
        }
    }

    /// Whether the items after the leading ones are answered separately, so that they may be sent in several frames.
    var isDivisible: Bool { ![.load, .drop, .update, .trial].contains(self) }

    /// The function of the prelude that processes one item.
    var function: String {
        switch self {
        case .load: "load"
        case .drop: ""
        case .check: "check"
        case .map: "map"
        case .reduce: "reduce"
        case .validate: "validate"
        case .filter: "filter"
        case .filterByView: "filterByView"
        case .update: "update"
        case .syntax: "syntax"
        case .trial: "trial"
        }
    }
}
