internal import SettleCore
public import SettleDatabase

/// What the conditions of a query are made of: a ``QueryCondition``, or a field that is a `Bool`, which asks for `true`.
///
///     DocumentQuery<Task>().where { !$0.done && $0.title.hasPrefix("A") }
public protocol QueryPredicate: Sendable {
    /// The condition that it stands for.
    var condition: QueryCondition { get }
}

/// A condition of a query.
///
///     ($0.age > 30 && $0.name.hasPrefix("A")) || !($0["city"] == "Prague")
///
/// A negation matches only documents that have the field: see ``QueryField``.
public struct QueryCondition: QueryPredicate {
    /// The selector, or the error that prevents one.
    let selector: Result<JSONValue, any Error>

    init(_ selector: () throws -> JSONValue) { self.selector = Result { try selector() } }

    /// Conditions combined by an operator of selectors.
    package init(_ name: String, _ conditions: [QueryCondition]) {
        self.init { [name: .array(try conditions.map { try $0.selector.get() })] }
    }

    /// The condition that another one does not match.
    package init(not condition: QueryCondition) { self.init { ["$not": try condition.selector.get()] } }

    /// Makes a condition from a selector in CouchDB's language.
    public init(_ selector: MangoSelector) { self.selector = .success(selector.json) }

    /// The condition itself.
    public var condition: QueryCondition { self }
}

extension QueryField: QueryPredicate where Value == Bool {
    /// Matches documents whose field is `true`.
    public var condition: QueryCondition { isEqual(to: true) }
}
