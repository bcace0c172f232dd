@testable import SettleServer

extension PathPattern {
    /// The values of the placeholders, or `nil` if a path does not match: the reference for ``RouteTree``.
    func match(_ segments: [String]) -> Parameters? {
        let hasRest = if case .rest = parts.last { true } else { false }
        guard hasRest ? segments.count >= parts.count : segments.count == parts.count else { return nil }
        for (part, segment) in zip(parts, segments) {
            if case .word(let word) = part, segment != word { return nil }
        }
        return parameters(of: segments)
    }
}
