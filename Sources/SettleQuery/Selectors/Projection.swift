package import SettleCore

/// The members of a document to return, as a list of paths: a query's `fields`.
///
///     ["_id", "address.city"]    of {"_id": "a", "address": {"city": "B", "zip": 1}}  →  {"_id": "a", "address": {"city": "B"}}
package struct Projection: Sendable {
    /// The paths as given; empty if everything is returned.
    package let fields: [String]
    private let paths: [(path: SelectorPath, names: [String])]?

    /// Reads the list; an empty one returns everything.
    package init(_ fields: [JSONValue]) throws(SelectorError) {
        guard !fields.isEmpty else {
            (paths, self.fields) = (nil, [])
            return
        }
        var paths: [(SelectorPath, [String])] = []
        for field in fields {
            guard let spelling = field.string else {
                throw SelectorError(.invalidField, "Invalid JSON for field spec: \(Self.text(field))")
            }
            let path = SelectorPath(spelling)
            guard let names = path.names, !names.isEmpty else {
                throw SelectorError(.invalidFieldName, "Invalid field name: \(spelling)")
            }
            paths.append((path, names))
        }
        self.paths = paths
        self.fields = fields.compactMap(\.string)
    }

    /// The part of a document to return; a path without a value adds nothing.
    package func shown(of document: JSONValue) -> JSONValue {
        guard let paths else { return document }
        var shown = JSONObject(capacity: paths.count)
        for (path, names) in paths {
            if case .value(let value) = path.destination(in: document) { shown.set(value, at: names[...]) }
        }
        return .object(shown)
    }

    private static func text(_ field: JSONValue) -> String {
        switch field {
        case .array, .object: String(decoding: field.utf8.prefix(200), as: UTF8.self)
        default: ErlangText.text(of: field)
        }
    }
}

extension JSONObject {
    /// Sets the member at the end of a path of names, and adds the objects that lead to it. If a parent exists and is
    /// not an object, nothing changes: a projection has copied it whole.
    package mutating func set(_ value: JSONValue, at names: ArraySlice<String>) {
        guard let name = names.first else { return }
        guard names.count > 1 else {
            self[name] = value
            return
        }
        guard var inner = self[name].map(\.object) ?? JSONObject() else { return }
        inner.set(value, at: names.dropFirst())
        self[name] = .object(inner)
    }
}

/// A JSON value in Erlang's term syntax, which CouchDB includes in some error reasons.
///
///     [2, "x", {"a": null}]    →    [2,<<120>>,{[{<<97>>,null}]}]
package enum ErlangText {
    /// The text of a value, which must not be nested deeper than a selector may be.
    package static func text(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number): number.isInteger ? integer(number.text) : number.double.description
        case .string(let string): binary(string)
        case .array(let elements): "[" + elements.map { text(of: $0) }.joined(separator: ",") + "]"
        case .object(let members):
            "{[" + members.map { "{\(binary($0.name)),\(text(of: $0.value))}" }.joined(separator: ",") + "]}"
        }
    }

    private static func integer(_ text: String) -> String { text == "-0" ? "0" : text }

    private static func binary(_ string: String) -> String {
        "<<" + string.utf8.map { String($0) }.joined(separator: ",") + ">>"
    }
}
