internal import Settle

/// A word of a condition.
enum ConditionToken: Equatable {
    /// The path of a member, or a word such as `and`.
    case word(String)
    /// One of `( ) ! && || = != < <= > >=`.
    case symbol(String)
    /// A number, a text in quotes, an array or an object.
    case value(JSON)
}
