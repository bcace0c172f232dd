internal import SettleCore
internal import SettleDatabase

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
    /// The number of elements, to be compared.
    ///
    /// `<`, `<=`, `>` and `>=` take numbers up to 1,000; a larger one throws ``QueryError`` with code `unsupportedCondition`.
    public var count: QueryField<Int> { seen(as: .count) }

    /// Matches lists without elements.
    public var isEmpty: QueryCondition { condition { try $0.selector("$eq", []) } }

    /// Matches lists that contain an element.
    public func contains(_ element: Value.ListElement) -> QueryCondition where Value.ListElement: Encodable {
        condition { try $0.selector("$elemMatch", ["$eq": JSONValue(encoding: element, coding: coding)]) }
    }

    /// Matches lists that have an element that matches a condition.
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

    /// Matches lists all of whose elements match a condition, and lists without elements.
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
