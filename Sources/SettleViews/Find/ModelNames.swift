internal import SettleDatabase

/// Finds the fields of documents that key paths of a model name, without an instance of the model.
///
///     \Order.customer?.address.city
///        │       │         │     └ stored property of Address ─ its coding key ─→ "city"
///        │       │         └ stored property of Customer      ─ its coding key ─→ "address"
///        │       └ stored property of Order                   ─ its coding key ─→ "client"        client.address.city
///        └ type
///
/// A key path describes itself by the names of the stored properties that it goes through. The coding key of a property is the
/// case of its name (``CodingNames``). Neither reads a value or calls a getter, so a computed property that fails for some values
/// is an error and not a crash.
enum ModelNames {
    /// The path of the field, escaped for selectors, or an error that says what to do.
    ///
    /// - Parameters:
    ///   - property: The key path.
    ///   - isDocument: Whether the root is the model of documents, whose `id` is the document's id, and not a part of one.
    /// - Returns: The path, or a ``QueryError`` with code `unknownField`.
    static func path<Model>(
        of property: PartialKeyPath<Model>, isDocument: Bool = true
    ) -> Result<String, QueryError> {
        if let name = given(Model.self, property) { return .success(escaped(name)) }
        let valueType = type(of: property).valueType
        let description = (property as AnyKeyPath).debugDescription
        var ways: [[(owner: Any.Type, name: String)]] = []
        let prefix = "\\" + String(describing: Model.self)
        if description.hasPrefix(prefix) {
            ways = Self.ways(through: Model.self, to: valueType, description.dropFirst(prefix.count))
        }
        guard ways.count == 1, let way = ways.first, !way.isEmpty else {
            return .failure(
                unknown(
                    Model.self, valueType, description,
                    "it is not a stored property, but a computed or wrapped one, one with observers, or part of a value"
                ))
        }
        var names: [String] = []
        for (place, part) in way.enumerated() {
            if place == 0, isDocument, part.name == "id", CodingRules.isIDOfDocument(in: Model.self) {
                names.append("_id")
                continue
            }
            let keys = (part.owner as? any Decodable.Type).flatMap { CodingNames.of($0, .of(Model.self)) }
            guard let name = keys?[part.name] else {
                return .failure(
                    unknown(
                        Model.self, valueType, description, "\(part.owner) has no coding key \"\(part.name)\""))
            }
            names.append(escaped(name))
        }
        return .success(names.joined(separator: "."))
    }

    /// A name as a part of a path.
    static func escaped(_ name: String) -> String {
        guard !name.isEmpty, !name.hasPrefix("$") else { return "\\" + name.replacing(".", with: "\\.") }
        return name.replacing(".", with: "\\.")
    }

    private static func given(_ model: Any.Type, _ property: AnyKeyPath) -> String? {
        func name<Listed: Queryable>(_ model: Listed.Type) -> String? {
            model.fieldNames.first { ($0.key as AnyKeyPath) == property }?.value
        }
        return (model as? any Queryable.Type).flatMap { name($0) }
    }

    /// The stored properties from a type to a value, as the rest of a description names them.
    ///
    /// A description names a property by its offset. Empty properties have the offset of another one, so these are tried too, and
    /// the type of the value decides.
    private static func ways(
        through type: Any.Type, to valueType: Any.Type, _ rest: Substring
    ) -> [[(owner: Any.Type, name: String)]] {
        if rest.isEmpty { return type == valueType ? [[]] : [] }
        // At the end, a question mark wraps the value; elsewhere it unwraps an optional one, as does an exclamation mark.
        if rest == "?", let optional = valueType as? any OptionalValue.Type, optional.wrapped == type { return [[]] }
        if rest.hasPrefix("?") || rest.hasPrefix("!") {
            guard let optional = type as? any OptionalValue.Type else { return [] }
            return ways(through: optional.wrapped, to: valueType, rest.dropFirst())
        }
        guard rest.hasPrefix(".") else { return [] }
        let fields = StoredField.all(of: type)
        var found: [[(owner: Any.Type, name: String)]] = []
        for named in fields where rest.dropFirst().hasPrefix(named.name) {
            let next = rest.dropFirst(1 + named.name.count)
            guard next.first.map({ ".?!".contains($0) }) ?? true else { continue }
            for field in fields where field.offset == named.offset {
                found += ways(through: field.type, to: valueType, next).map { [(type, field.name)] + $0 }
            }
        }
        return found
    }

    private static func unknown(
        _ model: Any.Type, _ valueType: Any.Type, _ description: String, _ reason: String
    ) -> QueryError {
        let property =
            description.contains("<computed") ? "a property of \(model) with a \(valueType)" : description
        return QueryError(
            .unknownField,
            "the field of \(property) is not known: \(reason); list it in \(model).fieldNames (see Queryable), or name the field: "
                + "$0[\"name\"]")
    }
}

/// A value that may be missing.
protocol OptionalValue {
    static var wrapped: Any.Type { get }
    var isNothing: Bool { get }
}

extension Optional: OptionalValue {
    static var wrapped: Any.Type { Wrapped.self }
    var isNothing: Bool { if case .none = self { true } else { false } }
}
