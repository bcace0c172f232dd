internal import SettlePlatform

/// What is asked behind a path: names and values in order.
///
///     var query: HTTPQuery = ["style": "all_docs"]
///     query["since"] = "12-xyz"
public struct HTTPQuery: Sendable, ExpressibleByDictionaryLiteral {
    /// The names and values, without escapes.
    public private(set) var items: [(name: String, value: String)]

    /// Makes a query that asks nothing.
    public init() { items = [] }

    /// Makes a query of names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        items = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first value of a name; setting replaces all of them, and `nil` removes them.
    public subscript(name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set {
            let index = items.firstIndex { $0.name == name } ?? items.count
            items.removeAll { $0.name == name }
            if let newValue { items.insert((name: name, value: newValue), at: index) }
        }
    }

    /// The query as it is sent, `nil` when nothing is asked.
    var encoded: String? {
        guard !items.isEmpty else { return nil }
        return items.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
    }
}
