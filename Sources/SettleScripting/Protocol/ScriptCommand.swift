/// What a worker can be asked to do.
enum ScriptCommand: UInt8, Sendable {
    /// Takes what a context works with: one item, the JSON of a design document or of a view's functions.
    case load = 1
    /// Lets go of a context.
    case drop
    /// Sees whether functions compile: an item each, `["map", "name", "source"]`.
    case check
    /// Runs all map functions over documents, an item each; answers each with `[[[key,value],…],…]`, a list a function.
    case map
    /// Runs reduce functions: first what is the same for all, then an item a reduction.
    case reduce
    /// Asks a validation function: the user and the security object, then an item each, the new document and the old one;
    /// answers `1` or what was thrown.
    case validate
    /// Asks a filter: its name and the request, then documents; answers `1` or `0` each.
    case filter
    /// Asks a map function as a filter: its name, then documents; answers `1` or `0` each.
    case filterByView
    /// Runs an update function: its name, the document, the request.
    case update
    /// Looks for mistakes in sources: an item each, `["function", "source"]`; answers `1` or `["message", line]`.
    case syntax

    /// How many items stand in front of those that are answered one by one.
    var leading: Int {
        switch self {
        case .load, .drop, .check, .map, .update, .syntax: 0
        case .reduce, .validate, .filterByView: 1
        case .filter: 2
        }
    }

    /// Whether the items behind those in front are answered each for itself, so that they may come in several frames.
    var isDivisible: Bool { ![.load, .drop, .update].contains(self) }

    /// The function of the prelude that does it for one item.
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
        }
    }
}
