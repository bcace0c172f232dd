public import SettleViews

// Operators are in this module, because an import of single names, as in Settle.swift, brings none.

extension QueryField where Value: Encodable {
    /// Matches a value; `nil`, for an optional property, matches a missing member or `null`.
    public static func == (field: QueryField, value: Value) -> QueryCondition { field.isEqual(to: value) }

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
}

extension QueryPredicate {
    /// Matches documents that match both conditions.
    public static func && (left: Self, right: some QueryPredicate) -> QueryCondition {
        QueryCondition("$and", [left.condition, right.condition])
    }

    /// Matches documents that match at least one condition.
    public static func || (left: Self, right: some QueryPredicate) -> QueryCondition {
        QueryCondition("$or", [left.condition, right.condition])
    }

    /// Matches documents that have the member and don't match the condition; for a `Bool` those where it is not `true`.
    public static prefix func ! (predicate: Self) -> QueryCondition { QueryCondition(not: predicate.condition) }
}
