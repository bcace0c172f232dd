internal import SettlePlatform

/// Query parameters: names and values in order.
///
///     var query: HTTPQuery = ["style": "all_docs"]
///     query["since"] = "12-xyz"
package struct HTTPQuery: Sendable, ExpressibleByDictionaryLiteral {
    /// The names and values, decoded.
    package private(set) var items: [(name: String, value: String)]

    /// Creates an empty query.
    package init() { items = [] }

    /// Creates a query from names and values.
    package init(dictionaryLiteral elements: (String, String)...) {
        items = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first value of a name; setting it replaces all values, and `nil` removes them.
    package subscript(name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set {
            let index = items.firstIndex { $0.name == name } ?? items.count
            items.removeAll { $0.name == name }
            if let newValue { items.insert((name: name, value: newValue), at: index) }
        }
    }

    /// The encoded query; `nil` if it is empty.
    var encoded: String? {
        guard !items.isEmpty else { return nil }
        return items.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
    }
}
