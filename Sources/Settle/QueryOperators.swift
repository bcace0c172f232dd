public import SettleCore
public import SettleDatabase
public import SettleViews

// Operators are in this module, because imports of single names, as in Settle.swift, don't include operators.

extension QueryField where Value: Encodable {
    /// Matches a value; `nil`, for an optional property, matches a missing field or `null`.
    public static func == (field: QueryField, value: Value) -> QueryCondition { field.isEqual(to: value) }

    /// Matches fields other than a value; with `nil`, fields other than `null`.
    public static func != (field: QueryField, value: Value) -> QueryCondition { field.condition("$ne", value) }

    /// Matches fields less than a value.
    public static func < (field: QueryField, value: Value) -> QueryCondition { field.condition("$lt", value) }

    /// Matches fields less than or equal to a value.
    public static func <= (field: QueryField, value: Value) -> QueryCondition { field.condition("$lte", value) }

    /// Matches fields greater than a value.
    public static func > (field: QueryField, value: Value) -> QueryCondition { field.condition("$gt", value) }

    /// Matches fields greater than or equal to a value.
    public static func >= (field: QueryField, value: Value) -> QueryCondition { field.condition("$gte", value) }
}

extension QueryField where Value: DocumentIDConvertible {
    /// Matches the document with an id: `$0.id == saved.id`, whatever the type of the model's own id.
    @_disfavoredOverload
    public static func == (field: QueryField, id: DocumentID) -> QueryCondition { field.condition("$eq", id: id) }

    /// Matches the documents with other ids.
    @_disfavoredOverload
    public static func != (field: QueryField, id: DocumentID) -> QueryCondition { field.condition("$ne", id: id) }
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

    /// Matches documents that have the field and don't match the condition; for a `Bool` those where it is not `true`.
    public static prefix func ! (predicate: Self) -> QueryCondition { QueryCondition(not: predicate.condition) }
}
