package import SettleCore

/// The path of a member in a document, such as `address.city`. A backslash precedes a dot that belongs to a name.
package enum FieldPath {
    /// The names of a path.
    package static func names(_ path: String) -> [String] {
        var names = [""]
        var isEscaped = false
        for character in path {
            if character == ".", !isEscaped {
                names.append("")
            } else if isEscaped || character != "\\" {
                names[names.count - 1].append(character)
            }
            isEscaped = !isEscaped && character == "\\"
        }
        return names
    }

    /// A name as part of a path.
    package static func escaped(_ name: String) -> String {
        name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
    }

    /// The value at a path.
    package static func value(_ path: String, of document: JSONValue) -> JSONValue? { value(names(path), of: document) }

    /// The value at the names of a path; a number is also a position in a list.
    package static func value(_ names: [String], of document: JSONValue) -> JSONValue? {
        names.reduce(document as JSONValue?) { value, name in
            value?[name] ?? Int(name).flatMap { value?.array == nil ? nil : value?[$0] }
        }
    }
}
