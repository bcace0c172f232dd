import RevisionTree
public import SettleDatabase

/// What a query asks of documents.
///
///     ($0.age > 30 && $0.name.hasPrefix("A")) || !($0["city"] == "Prague")
///
/// A negation asks for documents that have the member: see ``QueryField``.
public struct QueryCondition: Sendable {
    /// The selector, or why there is none.
    let selector: Result<JSON, any Error>

    init(_ selector: () throws -> JSON) { self.selector = Result { try selector() } }

    /// A condition in CouchDB's language.
    public init(_ selector: Selector) { self.selector = .success(selector.json) }

    /// Both conditions.
    public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
        QueryCondition { ["$and": [try left.selector.get(), try right.selector.get()]] }
    }

    /// One condition or both.
    public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
        QueryCondition { ["$or": [try left.selector.get(), try right.selector.get()]] }
    }

    /// The contrary, for documents that have the member.
    public static prefix func ! (condition: QueryCondition) -> QueryCondition {
        QueryCondition { ["$not": try condition.selector.get()] }
    }
}
