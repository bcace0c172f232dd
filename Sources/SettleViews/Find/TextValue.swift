public import SettleCore

/// A type that may hold a string: `String`, an optional one, or any JSON.
public protocol TextValue {}

extension String: TextValue {}
extension JSONValue: TextValue {}
extension Optional: TextValue where Wrapped: TextValue {}

extension QueryField where Value: TextValue {
    /// The text in lower case: what it is compared with is taken in lower case too, and case makes no difference.
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

    /// Matches strings in which another one occurs; a field of any type (`$0["name"]`) also if it is a list that has it as an
    /// element. It uses no index.
    public func contains(_ text: String) -> QueryCondition {
        let occurs = condition { $0.occurrence(of: text) }
        guard Value.self is JSONValue.Type else { return occurs }
        return QueryCondition("$or", [occurs, condition { try $0.selector("$elemMatch", ["$eq": .string(text)]) }])
    }

    /// Matches strings in which a Perl-compatible regular expression occurs. It uses no index.
    public func matches(_ pattern: String) -> QueryCondition {
        condition { try $0.selector("$regex", .string(pattern)) }
    }

    /// Matches the empty string.
    public var isEmpty: QueryCondition { condition { try $0.selector("$eq", "") } }
}
