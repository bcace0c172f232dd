import RevisionTree

/// A member of documents, in a condition.
///
///     Query<Person>().where { $0.age >= 18 && $0["address.city"] == "Prague" }
///
/// - Important: A missing member matches no condition but ``isMissing``, so `$0.age != 30` asks for documents that have an
///   age. That is CouchDB's rule.
@dynamicMemberLookup
public struct QueryField<Value: Sendable>: Sendable {
    /// The path, or the property that has no name.
    let path: Result<String, QueryError>

    init(_ path: Result<String, QueryError>) { self.path = path }

    /// A member by its path: `QueryField<Int>("age")`, `QueryField<String>("address.city")`.
    ///
    /// Whether documents hold values of this type is not checked; what they hold is compared in CouchDB's order, in which
    /// all texts are behind all numbers.
    public init(_ path: String) { self.path = .success(path) }

    /// A member of the member.
    public subscript<Inner>(dynamicMember property: KeyPath<Value, Inner>) -> QueryField<Inner> where Value: Queryable {
        QueryField<Inner>(path.flatMap { path in QueryFields<Value>.name(of: property).map { "\(path).\($0)" } })
    }

    /// A condition on the member.
    func condition(_ name: String, _ argument: some Encodable) -> QueryCondition {
        QueryCondition {
            let path = try path.get()
            let value = try JSON(encoding: argument)
            return .object(JSONObject([(path, .object(JSONObject([(name, value)])))]))
        }
    }

    /// Whether documents have the member, whatever it is.
    public var exists: QueryCondition { condition("$exists", true) }

    /// Whether documents do not have the member.
    public var isMissing: QueryCondition { condition("$exists", false) }

    /// Whether it is of a kind: `null`, `boolean`, `number`, `string`, `array` or `object`.
    public func isOfKind(_ kind: String) -> QueryCondition { condition("$type", kind) }

    /// Whether it is an array of so many elements.
    public func hasCount(_ count: Int) -> QueryCondition { condition("$size", count) }
}

extension QueryField where Value: Encodable {
    /// Whether it is equal to a value; to `nil`, of an optional property, when it is missing or `null`.
    public static func == (field: QueryField, value: Value) -> QueryCondition {
        let isEqual = field.condition("$eq", value)
        guard let optional = value as? any OptionalValue, optional.isNothing else { return isEqual }
        return isEqual || field.isMissing
    }

    /// Whether it is there and not equal to a value; to `nil`, when it is there and not `null`.
    public static func != (field: QueryField, value: Value) -> QueryCondition { field.condition("$ne", value) }

    /// Whether it is less than a value.
    public static func < (field: QueryField, value: Value) -> QueryCondition { field.condition("$lt", value) }

    /// Whether it is not greater than a value.
    public static func <= (field: QueryField, value: Value) -> QueryCondition { field.condition("$lte", value) }

    /// Whether it is greater than a value.
    public static func > (field: QueryField, value: Value) -> QueryCondition { field.condition("$gt", value) }

    /// Whether it is not less than a value.
    public static func >= (field: QueryField, value: Value) -> QueryCondition { field.condition("$gte", value) }

    /// Whether it is one of some values, or an array with one of them.
    public func isOne(of values: [Value]) -> QueryCondition { condition("$in", values) }
}

extension QueryField {
    /// Whether it is an array with an element.
    public func contains<Element: Encodable>(_ element: Element) -> QueryCondition where Value == [Element] {
        condition("$elemMatch", ["$eq": element])
    }
}

extension QueryField where Value: TextValue {
    /// Whether it is a text that begins with another.
    public func hasPrefix(_ prefix: String) -> QueryCondition { condition("$beginsWith", prefix) }

    /// Whether a regular expression of Perl's kind occurs in it. No index serves that.
    public func matches(_ pattern: String) -> QueryCondition { condition("$regex", pattern) }
}

/// A value that may be missing.
private protocol OptionalValue {
    var isNothing: Bool { get }
}

extension Optional: OptionalValue {
    fileprivate var isNothing: Bool { if case .none = self { true } else { false } }
}
