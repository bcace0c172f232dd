package import SettleCore

/// A condition on one member that narrows the range of an index.
package struct SelectorCondition: Sendable {
    /// How the member compares to the argument.
    package enum Kind: Sendable {
        /// `$lt`
        case less
        /// `$lte`
        case lessOrEqual
        /// `$eq`
        case equal
        /// `$gte`
        case greaterOrEqual
        /// `$gt`
        case greater
        /// `$beginsWith`
        case prefix
        /// `$exists`, which narrows nothing.
        case exists
    }

    /// The member's path as written.
    package let path: String
    /// How it compares to the argument.
    package let kind: Kind
    /// The argument.
    package let argument: JSONValue

    init?(_ path: SelectorPath, _ test: SelectorTest) {
        self.path = path.spelling
        switch test {
        case .compare(.notEqual, _), .contained, .type, .remainder, .pattern, .contains, .size: return nil
        case .compare(.less, let value): (kind, argument) = (.less, value)
        case .compare(.lessOrEqual, let value): (kind, argument) = (.lessOrEqual, value)
        case .compare(.equal, let value): (kind, argument) = (.equal, value)
        case .compare(.greaterOrEqual, let value): (kind, argument) = (.greaterOrEqual, value)
        case .compare(.greater, let value): (kind, argument) = (.greater, value)
        case .prefix(let prefix): (kind, argument) = (.prefix, .string(prefix))
        case .exists(let flag): (kind, argument) = (.exists, .bool(flag))
        }
    }
}
