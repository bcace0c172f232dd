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

    /// What the words in braces of a path stand for; so few that they are looked through.
    struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
        private var items: [(name: String, value: String)]

        init(dictionaryLiteral elements: (String, String)...) { items = elements.map { (name: $0.0, value: $0.1) } }

        /// The value of a name.
        subscript(name: String) -> String? { items.first { $0.name == name }?.value }

        /// Adds one.
        mutating func add(_ name: String, _ value: String) { items.append((name, value)) }
    }

    let parts: [Part]

    init(_ text: String) {
        parts = text.split(separator: "/").map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else {
                return .word(PercentCoding.decode(part, plusIsBlank: true))
            }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .any(String(name))
        }
    }

    /// What the words in braces stand for in a path of this form, as a ``RouteTree`` has found it.
    func parameters(of segments: [String]) -> Parameters {
        var found: Parameters = [:]
        for (index, part) in parts.enumerated() {
            switch part {
            case .word: break
            case .any(let name): found.add(name, segments[index])
            case .rest(let name): found.add(name, segments[index...].joined(separator: "/"))
            }
        }
        return found
    }
}
