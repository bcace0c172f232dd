@testable import SettleServer

extension PathPattern {
    /// What the words in braces stand for, or `nil` when a path is not of this form: the definition of what a ``RouteTree`` finds.
    func match(_ segments: [String]) -> Parameters? {
        let hasRest = if case .rest = parts.last { true } else { false }
        guard hasRest ? segments.count >= parts.count : segments.count == parts.count else { return nil }
        for (part, segment) in zip(parts, segments) {
            if case .word(let word) = part, segment != word { return nil }
        }
        return parameters(of: segments)
    }
}
