/// The form of a path: `/{db}/_design/{name}/{file...}`.
///
/// A word in braces stands for any one segment, and takes it; with dots, for one or more to the end, joined by slashes.
struct PathPattern: Sendable {
    private enum Part: Sendable, Equatable {
        case word(String)
        case any(String)
        case rest(String)
    }

    private let parts: [Part]

    init(_ text: String) {
        parts = text.split(separator: "/").map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return .word(String(part)) }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .any(String(name))
        }
    }

    /// What the words in braces stand for, or `nil` when a path is not of this form.
    func match(_ segments: [String]) -> [String: String]? {
        var found: [String: String] = [:]
        for (index, part) in parts.enumerated() {
            guard index < segments.count else { return nil }
            switch part {
            case .word(let word): if segments[index] != word { return nil }
            case .any(let name): found[name] = segments[index]
            case .rest(let name):
                found[name] = segments[index...].joined(separator: "/")
                return found
            }
        }
        return segments.count == parts.count ? found : nil
    }
}
