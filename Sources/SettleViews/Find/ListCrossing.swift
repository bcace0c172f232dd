internal import SettleCore
internal import SettleQuery

/// Detects conditions that find nothing because their path goes through a list: `lines.product`, where `lines` is a
/// list of objects.
///
/// It examines the first documents that don't match, and stops at the first such path.
struct ListCrossing: Sendable {
    /// The maximum number of documents to examine.
    private static let maximumDocuments = 100

    private var paths: [SelectorPath]
    private var left = Self.maximumDocuments

    /// - Parameter paths: The paths of the conditions.
    init(_ paths: [String]) { self.paths = paths.map { SelectorPath($0) }.filter { ($0.names?.count ?? 0) > 1 } }

    /// Examines a document that does not match.
    ///
    /// - Returns: The warning, once.
    mutating func warning(for document: JSONValue) -> String? {
        guard left > 0, !paths.isEmpty else { return nil }
        left -= 1
        for path in paths {
            guard let names = path.names, let length = Self.lengthToList(names, in: document) else { continue }
            paths = []
            let list = names.prefix(length).joined(separator: ".")
            let rest = names.dropFirst(length).joined(separator: ".")
            return """
                The path "\(path.spelling)" goes through the list "\(list)", and finds nothing in it. Ask for an element: \
                $0.\(list).contains { $0.\(rest) == … }, or {"\(list)": {"$elemMatch": {"\(rest)": …}}} as a selector.
                """
        }
        return nil
    }

    /// The number of names up to a list, if the name after them is not an index in it.
    private static func lengthToList(_ names: [String], in document: JSONValue) -> Int? {
        var value = document
        for (place, name) in names.enumerated() {
            switch value {
            case .object(let members):
                guard let next = members[name] else { return nil }
                value = next
            case .array(let elements):
                guard let position = Int(name) else { return place }
                guard elements.indices.contains(position) else { return nil }
                value = elements[position]
            default: return nil
            }
        }
        return nil
    }
}
