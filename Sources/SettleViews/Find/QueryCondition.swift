import SettleCore
public import SettleDatabase

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
