/// What the words in braces of a ``PathPattern`` stand for; so few that they are looked through.
struct PathParameters: Sendable, ExpressibleByDictionaryLiteral {
    private var items: [(name: String, value: String)]

    init(dictionaryLiteral elements: (String, String)...) { items = elements.map { (name: $0.0, value: $0.1) } }

    /// The value of a name.
    subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    /// Adds one.
    mutating func add(_ name: String, _ value: String) { items.append((name, value)) }
}
