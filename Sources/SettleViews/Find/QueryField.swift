public import SettleCore
internal import SettleDatabase

/// A member of documents, in a condition.
///
///     DocumentQuery<Person>().where { $0.age >= 18 && $0["address.city"] == "Prague" }
///
/// The operators `==`, `!=`, `<`, `<=`, `>` and `>=` are in the module `Settle`.
///
/// - Important: A missing member matches no condition except ``isMissing``, so `$0.age != 30` finds documents that
///   have an age. That is CouchDB's rule.
@dynamicMemberLookup
public struct QueryField<Value: Sendable>: Sendable {
    /// The path, or an error for a property without a name.
    let path: Result<String, QueryError>
    /// How the model that has the member is stored, and so what is compared with it.
    let coding: DocumentCoding

    init(_ path: Result<String, QueryError>, _ coding: DocumentCoding) { (self.path, self.coding) = (path, coding) }

    /// A member by its path: `QueryField<Int>("age")`, `QueryField<String>("address.city")`.
    ///
    /// The type of the stored values is not checked; they are compared in CouchDB's order, in which all strings come
    /// after all numbers.
    public init(_ path: String) { self.init(.success(path), .standard) }

    /// A member inside this member.
    public subscript<Inner>(dynamicMember property: KeyPath<Value, Inner>) -> QueryField<Inner> where Value: Decodable {
        QueryField<Inner>(path.flatMap { path in ModelNames.path(of: property).map { "\(path).\($0)" } }, coding)
    }

    /// A condition on the member, by an operator of selectors.
    package func condition(_ name: String, _ argument: some Encodable) -> QueryCondition {
        QueryCondition {
            let path = try path.get()
            let value = try JSONValue(encoding: argument, coding: coding)
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
    /// The condition that the member has a value, or for `nil` that it is missing or `null`.
    package func isEqual(to value: Value) -> QueryCondition {
        let isEqual = condition("$eq", value)
        guard let optional = value as? any OptionalValue, optional.isNothing else { return isEqual }
        return QueryCondition("$or", [isEqual, isMissing])
    }

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
extension JSONValue: TextValue {}
extension Optional: TextValue where Wrapped: TextValue {}
