internal import SettlePlatform

/// The form of a path: `/{db}/_design/{name}/{file...}`.
///
/// A slash in a word is written `%2F`. A word in braces stands for any one segment, and takes it; with dots, for one or more to
/// the end, joined by slashes.
struct PathPattern: Sendable {
    /// What one part of a path may be.
    enum Part: Sendable, Equatable {
        case word(String)
        case any(String)
        case rest(String)
    }

    let parts: [Part]
    private let hasRest: Bool

    init(_ text: String) {
        parts = text.split(separator: "/").map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else {
                return .word(PercentCoding.decode(part, plusIsBlank: true))
            }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .any(String(name))
        }
        hasRest = if case .rest = parts.last { true } else { false }
    }

    /// What the words in braces stand for, or `nil` when a path is not of this form.
    func match(_ segments: [String]) -> PathParameters? {
        matches(segments) ? parameters(of: segments) : nil
    }

    /// What the words in braces stand for in a path of this form.
    func parameters(of segments: [String]) -> PathParameters {
        var found: PathParameters = [:]
        for (index, part) in parts.enumerated() {
            switch part {
            case .word: break
            case .any(let name): found.add(name, segments[index])
            case .rest(let name): found.add(name, segments[index...].joined(separator: "/"))
            }
        }
        return found
    }

    /// Whether a path is of this form; most are not, and nothing is made for those.
    private func matches(_ segments: [String]) -> Bool {
        guard hasRest ? segments.count >= parts.count : segments.count == parts.count else { return false }
        for index in parts.indices {
            if case .word(let word) = parts[index], segments[index] != word { return false }
        }
        return true
    }
}
