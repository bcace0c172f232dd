package import SettleCore
internal import SettleDatabase

/// A field of documents, in a condition.
///
///     DocumentQuery<Person>().where { $0.age >= 18 && $0["address.city"] == "Prague" }
///     DocumentQuery<Order>().where { $0.lines.contains { $0.product == "Milk" } && $0.customer.name.lowercased() == "ada" }
///
/// The operators `==`, `!=`, `<`, `<=`, `>` and `>=` are in the module `Settle`.
///
/// - Important: A missing field matches no condition except ``isMissing`` and `== nil`, so `$0.age != 30` finds documents that
///   have an age. That is CouchDB's rule.
@dynamicMemberLookup
public struct QueryField<Value: Sendable>: Sendable {
    /// What the condition asks about, or an error for a property whose field is not known.
    let subject: Result<QuerySubject, QueryError>
    /// How the model that has the field is stored, and so what is compared with it.
    let coding: DocumentCoding

    init(_ subject: Result<QuerySubject, QueryError>, _ coding: DocumentCoding) {
        (self.subject, self.coding) = (subject, coding)
    }

    /// A field by its path: `QueryField<Int>("age")`, `QueryField<String>("address.city")`.
    ///
    /// The type of the stored values is not checked; they are compared in CouchDB's order, in which all strings come
    /// after all numbers.
    public init(_ path: String) { self.init(.success(QuerySubject(path: path)), .standard) }

    /// A field inside this one.
    public subscript<Inner>(dynamicMember property: KeyPath<Value, Inner>) -> QueryField<Inner> where Value: Decodable {
        QueryField<Inner>(subject.flatMap { subject in Self.name(of: property).map { subject.member($0) } }, coding)
    }

    /// A field inside this one, which may be missing: `$0.customer.name`, where `customer` is optional.
    public subscript<Wrapped, Inner>(
        dynamicMember property: KeyPath<Wrapped, Inner>
    ) -> QueryField<Inner> where Value == Wrapped? {
        QueryField<Inner>(
            subject.flatMap { subject in
                Self.name(of: property).map { subject.member($0, isInOptional: true) }
            }, coding)
    }

    private static func name<Root>(of property: PartialKeyPath<Root>) -> Result<String, QueryError> {
        ModelNames.path(of: property, isDocument: false)
    }

    /// A condition on the field, by an operator of selectors.
    package func condition(_ name: String, _ argument: some Encodable) -> QueryCondition {
        condition { subject in try subject.selector(name, try json(argument, subject)) }
    }

    /// A condition on the document's id, of whatever type the id of the model is.
    package func condition(_ name: String, id: DocumentID) -> QueryCondition {
        condition { try $0.selector(name, .string(id.string)) }
    }

    func condition(_ selector: (QuerySubject) throws -> JSONValue) -> QueryCondition {
        QueryCondition { try selector(try subject.get()) }
    }

    /// A value as it is stored in the field.
    private func json(_ value: some Encodable, _ subject: QuerySubject) throws -> JSONValue {
        guard subject.kind == .documentID else { return try JSONValue(encoding: value, coding: coding) }
        func text(_ id: any DocumentIDConvertible) throws -> JSONValue {
            try id.documentID.map { .string($0.string) } ?? .null
        }
        if let ids = value as? [any DocumentIDConvertible] { return .array(try ids.map(text)) }
        return try (value as? any DocumentIDConvertible).map(text) ?? JSONValue(encoding: value, coding: coding)
    }

    /// The field seen in another way.
    func seen<Other>(as kind: QuerySubject.Kind) -> QueryField<Other> {
        QueryField<Other>(
            subject.map { subject in
                var subject = subject
                subject.kind = kind
                return subject
            }, coding)
    }

    /// Matches documents that have the field, with any value.
    public var exists: QueryCondition { condition { try $0.selector("$exists", true) } }

    /// Matches documents without the field.
    public var isMissing: QueryCondition { condition { try $0.selector("$exists", false) } }

    /// Matches a kind of value: `null`, `boolean`, `number`, `string`, `array` or `object`.
    public func isOfKind(_ kind: String) -> QueryCondition { condition { try $0.selector("$type", .string(kind)) } }

    /// Matches arrays with `count` elements.
    public func hasCount(_ count: Int) -> QueryCondition {
        condition { try $0.selector("$size", .number(JSONNumber(count))) }
    }
}

extension QueryField where Value: Encodable {
    /// The condition that the field has a value, or for `nil` that it is missing or `null`.
    package func isEqual(to value: Value) -> QueryCondition {
        guard let optional = value as? any OptionalValue, optional.isNothing else { return condition("$eq", value) }
        return condition { try $0.nothing() }
    }

    /// Matches fields equal to one of some values; a field of any type (`$0["name"]`) also if it is a list that has one of them.
    public func isOne(of values: [Value]) -> QueryCondition {
        let isEachPlain =
            !(Value.self is any ListValue.Type) && !values.contains { ($0 as? any OptionalValue)?.isNothing ?? false }
        guard !isEachPlain, !values.isEmpty else { return condition("$in", values) }
        return QueryCondition("$or", values.map { isEqual(to: $0) })
    }

    /// Matches fields from a value up to, but not including, another one.
    public func isIn(_ range: Range<Value>) -> QueryCondition where Value: Comparable {
        QueryCondition("$and", [condition("$gte", range.lowerBound), condition("$lt", range.upperBound)])
    }

    /// Matches fields from a value through another one.
    public func isIn(_ range: ClosedRange<Value>) -> QueryCondition where Value: Comparable {
        QueryCondition("$and", [condition("$gte", range.lowerBound), condition("$lte", range.upperBound)])
    }

    /// Matches optional fields from a value up to, but not including, another one.
    public func isIn<Bound: Comparable & Encodable>(_ range: Range<Bound>) -> QueryCondition where Value == Bound? {
        QueryCondition("$and", [condition("$gte", range.lowerBound), condition("$lt", range.upperBound)])
    }

    /// Matches optional fields from a value through another one.
    public func isIn<Bound: Comparable & Encodable>(_ range: ClosedRange<Bound>) -> QueryCondition
    where Value == Bound? {
        QueryCondition("$and", [condition("$gte", range.lowerBound), condition("$lte", range.upperBound)])
    }
}
