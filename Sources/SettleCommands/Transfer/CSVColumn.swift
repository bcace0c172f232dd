internal import Settle

/// A column of a table: a member of the documents, by its path.
struct CSVColumn {
    let name: String
    private let path: [String]

    init(_ name: String) {
        self.name = name
        path = FieldPath.names(name)
    }

    /// Adds a cell's value to a document; `false` if another column has a value where this one needs an object.
    func put(_ text: String, takesTypes: Bool, into document: inout JSONObject) -> Bool {
        let isText = !takesTypes || ["_id", "_rev"].contains(name)
        return Self.put(isText ? .string(text) : Self.value(text), path[...], into: &document)
    }

    private static func put(_ value: JSONValue, _ path: ArraySlice<String>, into object: inout JSONObject) -> Bool {
        guard let name = path.first else { return false }
        if path.count == 1 {
            guard object[name] == nil else { return false }
            object[name] = value
            return true
        }
        guard var inner = object[name].map(\.object) ?? JSONObject() else { return false }
        guard put(value, path.dropFirst(), into: &inner) else { return false }
        object[name] = .object(inner)
        return true
    }

    /// The value of a cell. An integer that a double can't hold stays a text, as does `007`.
    private static func value(_ text: String) -> JSONValue {
        switch text.lowercased() {
        case "true": return true
        case "false": return false
        default: break
        }
        guard let first = text.utf8.first, "-0123456789[{".utf8.contains(first),
            let value = try? JSONValue(parsing: text)
        else { return .string(text) }
        if case .number = value, text.utf8.allSatisfy({ $0 != UInt8(ascii: ".") }), text.utf8.count > 15 {
            return .string(text)
        }
        return value
    }
}
