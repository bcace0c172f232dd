public import SettleCore
internal import SettleDatabase

/// A field of documents, in a condition.
///
///     DocumentQuery<Person>().where { $0.age >= 18 && $0["address.city"] == "Prague" }
///     DocumentQuery<Order>().where { $0.lines.contains { $0.product == "Milk" } && $0.customer.name.lowercased() == "ada" }
///
/// The operators `==`, `!=`, `<`, `<=`, `>` and `>=` are in the module `Settle`.
///
/// - Important: A missing field matches no condition except ``isMissing`` and `== nil`, so `$0.age != 30` finds
///   only documents that have an age. That is CouchDB's rule.
@dynamicMemberLookup
public struct QueryField<Value: Sendable>: Sendable {
    /// The subject of the condition, or an error for a property whose field is unknown.
    let subject: Result<QuerySubject, QueryError>
    /// The coding of the model, which determines how values are compared.
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

    /// A field inside this one if this one is optional: `$0.customer.name`, where `customer` may be missing.
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

    /// A condition on the field with an operator of selectors.
    package func condition(_ name: String, _ argument: some Encodable) -> QueryCondition {
        condition { subject in try subject.selector(name, try json(argument, subject)) }
    }

    /// A condition on the document's id, whatever its type in the model.
    package func condition(_ name: String, id: DocumentID) -> QueryCondition {
        condition { try $0.selector(name, .string(id.string)) }
    }

    func condition(_ selector: (QuerySubject) throws -> JSONValue) -> QueryCondition {
        QueryCondition { try selector(try subject.get()) }
    }

    /// A value in its stored form.
    private func json(_ value: some Encodable, _ subject: QuerySubject) throws -> JSONValue {
        guard subject.kind == .documentID else { return try JSONValue(encoding: value, coding: coding) }
        func text(_ id: any DocumentIDConvertible) throws -> JSONValue {
            try id.documentID.map { .string($0.string) } ?? .null
        }
        if let ids = value as? [any DocumentIDConvertible] { return .array(try ids.map(text)) }
        return try (value as? any DocumentIDConvertible).map(text) ?? JSONValue(encoding: value, coding: coding)
    }

    /// The field as another kind of subject.
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

    /// Matches values of a type: `null`, `boolean`, `number`, `string`, `array` or `object`.
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
        return condition { $0.nothing() }
    }

    /// Matches fields equal to one of some values. A field of any type (`$0["name"]`) also matches if it is a list
    /// that contains one of them.
    public func isOne(of values: [Value]) -> QueryCondition {
        let plain = values.filter(isPlain)
        guard plain.count < values.count else { return condition("$in", values) }
        let others = values.filter { !isPlain($0) }.map { isEqual(to: $0) }
        return QueryCondition("$or", (plain.isEmpty ? [] : [condition("$in", plain)]) + others)
    }

    /// Whether `$in` finds a value: not `nil`, which may be missing, and not a value that is stored as a list, such as
    /// a range, because `$in` examines the elements of lists.
    private func isPlain(_ value: Value) -> Bool {
        if (value as? any OptionalValue)?.isNothing ?? false { return false }
        return (try? JSONValue(encoding: value, coding: coding))?.array == nil
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

// MARK: - ListValue

/// A type that is stored as a list: an array, a set, or an optional one.
public protocol ListValue {
    /// The type of the elements.
    associatedtype ListElement
}

extension Array: ListValue {
    /// The type of the elements.
    public typealias ListElement = Element
}

extension Set: ListValue {
    /// The type of the elements.
    public typealias ListElement = Element
}

extension Optional: ListValue where Wrapped: ListValue {
    /// The type of the elements of the list, if there is one.
    public typealias ListElement = Wrapped.ListElement
}

extension QueryField where Value: ListValue {
    /// The number of elements, for comparisons.
    ///
    /// `<`, `<=`, `>` and `>=` accept numbers up to 1,000; a larger one throws ``QueryError`` with code
    /// `unsupportedCondition`.
    public var count: QueryField<Int> { seen(as: .count) }

    /// Matches lists without elements.
    public var isEmpty: QueryCondition { condition { try $0.selector("$eq", []) } }

    /// Matches lists that contain an element.
    public func contains(_ element: Value.ListElement) -> QueryCondition where Value.ListElement: Encodable {
        condition { try $0.selector("$elemMatch", ["$eq": JSONValue(encoding: element, coding: coding)]) }
    }

    /// Matches lists with an element that matches a condition.
    ///
    ///     $0.lines.contains { $0.product == "Milk" && $0.amount > 1 }
    ///     $0.marks.contains { $0 > 3 }
    ///
    /// - Note: In a condition on elements a negation also matches an element without the field.
    public func contains(
        where condition: (QueryField<Value.ListElement>) -> some QueryPredicate
    ) -> QueryCondition where Value.ListElement: Sendable {
        elements("$elemMatch", condition)
    }

    /// Matches lists whose elements all match a condition, including empty lists.
    public func allSatisfy(
        _ condition: (QueryField<Value.ListElement>) -> some QueryPredicate
    ) -> QueryCondition where Value.ListElement: Sendable {
        QueryCondition("$or", [isEmpty, elements("$allMatch", condition)])
    }

    private func elements<Element>(
        _ name: String, _ condition: (QueryField<Element>) -> some QueryPredicate
    ) -> QueryCondition {
        let inner = condition(QueryField<Element>(.success(QuerySubject(path: "")), coding)).condition.selector
        return self.condition { try $0.selector(name, try inner.get()) }
    }
}

extension QueryField where Value: ListValue, Value.ListElement: Sendable {
    /// The element at a position.
    public subscript(position: Int) -> QueryField<Value.ListElement> {
        QueryField<Value.ListElement>(subject.map { $0.member(String(position)) }, coding)
    }
}

// MARK: - TableValue

/// A type that is stored as an object with a field for each key: a dictionary, or an optional one.
public protocol TableValue {
    /// The type of the keys.
    associatedtype TableKey: Hashable
    /// The type of the values.
    associatedtype TableElement
}

extension Dictionary: TableValue {
    /// The type of the keys.
    public typealias TableKey = Key
    /// The type of the values.
    public typealias TableElement = Value
}

extension Optional: TableValue where Wrapped: TableValue {
    /// The type of the keys of the dictionary, if there is one.
    public typealias TableKey = Wrapped.TableKey
    /// The type of the values of the dictionary, if there is one.
    public typealias TableElement = Wrapped.TableElement
}

extension QueryField where Value: TableValue, Value.TableKey: Encodable, Value.TableElement: Encodable & Sendable {
    /// The value of a key.
    ///
    /// A dictionary is stored as an object if its keys are `String`, `Int` or `CodingKeyRepresentable`. Any other
    /// dictionary is stored as a list of keys and values; for it the condition throws ``QueryError`` with code
    /// `unsupportedCondition`.
    public subscript(key: Value.TableKey) -> QueryField<Value.TableElement> {
        let name = Result { () throws -> String in
            guard case .object(let members) = try JSONValue(encoding: [key: 0], coding: coding),
                let name = members.first?.name
            else {
                throw QueryError(
                    .unsupportedCondition,
                    "a dictionary with keys of type \(Value.TableKey.self) is stored as a list of keys and values; let the type conform to "
                        + "CodingKeyRepresentable")
            }
            return ModelNames.escaped(name)
        }.mapError { $0 as? QueryError ?? QueryError(.unsupportedCondition, "\($0)") }
        return QueryField<Value.TableElement>(subject.flatMap { subject in name.map { subject.member($0) } }, coding)
    }

    /// Matches dictionaries without keys.
    public var isEmpty: QueryCondition { condition("$eq", [Value.TableKey: Value.TableElement]()) }
}

// MARK: - TextValue

/// A type that may hold a string: `String`, an optional one, or any JSON.
public protocol TextValue {}

extension String: TextValue {}
extension JSONValue: TextValue {}
extension Optional: TextValue where Wrapped: TextValue {}

extension QueryField where Value: TextValue {
    /// The string in lower case: comparisons ignore case.
    ///
    ///     $0.name.lowercased() == "ada"           $0.name.lowercased().contains("milk")
    ///
    /// It can be compared by `==`, `!=`, ``isOne(of:)``, ``hasPrefix(_:)``, ``hasSuffix(_:)``, `contains(_:)` and ``matches(_:)``,
    /// and uses no index. Any other comparison throws ``QueryError`` with code `unsupportedCondition`.
    public func lowercased() -> QueryField { seen(as: .lowercased) }

    /// Matches strings that begin with a prefix.
    public func hasPrefix(_ prefix: String) -> QueryCondition {
        condition { try $0.selector("$beginsWith", .string(prefix)) }
    }

    /// Matches strings that end with a suffix. It uses no index.
    public func hasSuffix(_ suffix: String) -> QueryCondition { condition { $0.occurrence(of: suffix, before: "\\z") } }

    /// Matches strings that contain another one. A field of any type (`$0["name"]`) also matches if it is a list
    /// with that element. It uses no index.
    public func contains(_ text: String) -> QueryCondition {
        let occurs = condition { $0.occurrence(of: text) }
        guard Value.self is JSONValue.Type else { return occurs }
        return QueryCondition("$or", [occurs, condition { $0.element(text) }])
    }

    /// Matches strings in which a Perl-compatible regular expression occurs. It uses no index.
    public func matches(_ pattern: String) -> QueryCondition {
        condition { try $0.selector("$regex", .string(pattern)) }
    }

    /// Matches the empty string.
    public var isEmpty: QueryCondition { condition { try $0.selector("$eq", "") } }
}
