public import SettleCore
public import SettleDatabase

/// A member of documents, in a condition.
///
///     Query<Person>().where { $0.age >= 18 && $0["address.city"] == "Prague" }
///
/// - Important: A missing member matches no condition except ``isMissing``, so `$0.age != 30` finds documents that
///   have an age. That is CouchDB's rule.
@dynamicMemberLookup
public struct QueryField<Value: Sendable>: Sendable {
    /// The path, or an error for a property without a name.
    let path: Result<String, QueryError>

    init(_ path: Result<String, QueryError>) { self.path = path }

    /// A member by its path: `QueryField<Int>("age")`, `QueryField<String>("address.city")`.
    ///
    /// The type of the stored values is not checked; they are compared in CouchDB's order, in which all strings come
    /// after all numbers.
    public init(_ path: String) { self.path = .success(path) }

    /// A member inside this member.
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

    /// Matches documents that have the member, with any value.
    public var exists: QueryCondition { condition("$exists", true) }

    /// Matches documents without the member.
    public var isMissing: QueryCondition { condition("$exists", false) }

    /// Matches a kind of value: `null`, `boolean`, `number`, `string`, `array` or `object`.
    public func isOfKind(_ kind: String) -> QueryCondition { condition("$type", kind) }

    /// Matches arrays with `count` elements.
    public func hasCount(_ count: Int) -> QueryCondition { condition("$size", count) }
}

extension QueryField where Value: Encodable {
    /// Matches a value; `nil`, for an optional property, matches a missing member or `null`.
    public static func == (field: QueryField, value: Value) -> QueryCondition {
        let isEqual = field.condition("$eq", value)
        guard let optional = value as? any OptionalValue, optional.isNothing else { return isEqual }
        return isEqual || field.isMissing
    }

    /// Matches members other than a value; with `nil`, members other than `null`.
    public static func != (field: QueryField, value: Value) -> QueryCondition { field.condition("$ne", value) }

    /// Matches members less than a value.
    public static func < (field: QueryField, value: Value) -> QueryCondition { field.condition("$lt", value) }

    /// Matches members less than or equal to a value.
    public static func <= (field: QueryField, value: Value) -> QueryCondition { field.condition("$lte", value) }

    /// Matches members greater than a value.
    public static func > (field: QueryField, value: Value) -> QueryCondition { field.condition("$gt", value) }

    /// Matches members greater than or equal to a value.
    public static func >= (field: QueryField, value: Value) -> QueryCondition { field.condition("$gte", value) }

    /// Matches members equal to one of some values, or arrays that contain one of them.
    public func isOne(of values: [Value]) -> QueryCondition { condition("$in", values) }
}

extension QueryField {
    /// Matches arrays that contain an element.
    public func contains<Element: Encodable>(_ element: Element) -> QueryCondition where Value == [Element] {
        condition("$elemMatch", ["$eq": element])
    }
}

extension QueryField where Value: TextValue {
    /// Matches strings that begin with a prefix.
    public func hasPrefix(_ prefix: String) -> QueryCondition { condition("$beginsWith", prefix) }

    /// Matches strings in which a Perl-compatible regular expression occurs. It uses no index.
    public func matches(_ pattern: String) -> QueryCondition { condition("$regex", pattern) }
}

/// A value that may be missing.
private protocol OptionalValue {
    var isNothing: Bool { get }
}

extension Optional: OptionalValue {
    fileprivate var isNothing: Bool { if case .none = self { true } else { false } }
}

/// A type that may hold a string: `String`, an optional one, or any JSON.
public protocol TextValue {}

extension String: TextValue {}
extension JSON: TextValue {}
extension Optional: TextValue where Wrapped: TextValue {}

/// A condition of a query.
///
///     ($0.age > 30 && $0.name.hasPrefix("A")) || !($0["city"] == "Prague")
///
/// A negation matches only documents that have the member: see ``QueryField``.
public struct QueryCondition: Sendable {
    /// The selector, or the error that prevents one.
    let selector: Result<JSON, any Error>

    init(_ selector: () throws -> JSON) { self.selector = Result { try selector() } }

    /// Makes a condition from a selector in CouchDB's language.
    public init(_ selector: Selector) { self.selector = .success(selector.json) }

    /// Matches documents that match both conditions.
    public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
        QueryCondition { ["$and": [try left.selector.get(), try right.selector.get()]] }
    }

    /// Matches documents that match at least one condition.
    public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
        QueryCondition { ["$or": [try left.selector.get(), try right.selector.get()]] }
    }

    /// Matches documents that have the member and don't match the condition.
    public static prefix func ! (condition: QueryCondition) -> QueryCondition {
        QueryCondition { ["$not": try condition.selector.get()] }
    }
}
