/// Routes by the parts of their paths, so that a request's route is found by walking along its path once.
///
/// ```
///   {db} ─┬─ _find               a word goes before any part,
///         ├─ {doc} ── {file...}  and that before all that is left
///         └─ _design ── {design} ─┬─ _view ── {view}
///                                 └─ {file...}
/// ```
struct RouteTree: Sendable {
    /// A route, and what the words in braces of its path stand for.
    typealias Match = (route: Route, parameters: PathPattern.Parameters)

    private struct Node: Sendable {
        var words: [String: Node] = [:]
        /// What follows any one part; at most one node.
        var any: [Node] = []
        /// The route whose path ends here.
        var route: Route?
        /// The route that takes all that is left, at least one part.
        var rest: Route?

        mutating func insert(_ new: Route, at parts: ArraySlice<PathPattern.Part>) {
            switch parts.first {
            case nil: route = route ?? new
            case .word(let word): words[word, default: Node()].insert(new, at: parts.dropFirst())
            case .any:
                if any.isEmpty { any.append(Node()) }
                any[0].insert(new, at: parts.dropFirst())
            case .rest: rest = rest ?? new
            }
        }

        func find(_ segments: ArraySlice<String>) -> Route? {
            guard let first = segments.first else { return route }
            let others = segments.dropFirst()
            return words[first]?.find(others) ?? any.first?.find(others) ?? rest
        }
    }

    private var root = Node()

    init(_ routes: [Route]) { for route in routes { root.insert(route, at: route.pattern.parts[...]) } }

    /// The route of a path, or `nil` when there is no such route.
    func match(_ segments: [String]) -> Match? {
        root.find(segments[...]).map { ($0, $0.pattern.parameters(of: segments)) }
    }
}
