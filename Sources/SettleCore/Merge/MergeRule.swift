/// How a clash of one member is decided: two versions or more changed it to different values.
///
/// If a rule does not fit the values, such as ``sum`` with strings, ``MergeRules/onClash`` decides instead; the
/// decision says so.
public enum MergeRule: Sendable {
    /// The value of the first version that changed the member; the CouchDB winner comes first.
    case winner

    /// A number as a counter: the base, or 0, plus what each version added to it.
    ///
    ///     base 5, versions 6 and 8        5 + 1 + 3 = 9
    ///
    /// Integers are exact at any size. If any number is a float, the sum is a float: floats are taken as their
    /// shortest decimal representation, added exactly, and rounded once at the end, so that 0.1 and 0.2 make 0.3 and
    /// the order of versions does not affect the result.
    ///
    /// A counter with a rule for its path counts every change: from 5, two versions with 6 make 7, while any other
    /// member would count as changed to 6 by both. Only versions that are equal as a whole count once.
    case sum

    /// An array as a set: the base without what any version removed, then what the versions added.
    ///
    /// Every value appears once. Those of the base keep its order, additions follow in the order of the versions.
    case union

    /// An array of objects, merged element by element; elements are matched by the value of this member.
    ///
    /// Elements merge like objects, member by member. An element that one version removed and no other changed is
    /// removed; one that a version removed and another changed is kept, with the change. The order is that of the
    /// first version that moved elements of the base, else the winner's; elements it does not have follow in the
    /// order of the versions.
    ///
    /// The identity must be a string or a number, and unique in every version. Paths of rules leave the element out:
    /// `/items/count` is the `count` of every element of `items`.
    case array(identifiedBy: String)

    /// Text, merged line by line.
    ///
    /// Versions must have changed different lines, with an unchanged one between them; the same change in several
    /// versions is allowed. A line ends with a line feed. Up to 1000 lines removed and added are found, in O(*n* ·
    /// *d*) for *n* lines of which *d* differ; a version that differs more does not fit.
    case lines

    /// No decision: the document stays in conflict.
    case leave

    /// A function's result, which is the value, or `nil` to remove the member.
    ///
    /// The result must depend on the clash alone: no clock, no random numbers, no property of the device. Otherwise
    /// replicas that settle the same conflict write different revisions (SEMANTICS 83).
    case custom(String, @Sendable (MergeClash) -> JSONValue?)
}

/// One member that several versions changed to different values.
public struct MergeClash: Hashable, Sendable {
    /// The member's JSON Pointer, as decisions show it.
    public let path: String
    /// The value all versions started from, `nil` if there was no such member.
    public let base: JSONValue?
    /// Each version's value, `nil` where there is no such member.
    public let versions: [JSONValue?]
    /// The positions of the versions that changed the member, in order.
    public let changed: [Int]
}

extension MergeRule {
    /// A rule without its function, for comparison and display.
    public enum Kind: Hashable, Sendable {
        /// See ``MergeRule/winner``.
        case winner
        /// See ``MergeRule/sum``.
        case sum
        /// See ``MergeRule/union``.
        case union
        /// See ``MergeRule/array(identifiedBy:)``.
        case array(identifiedBy: String)
        /// See ``MergeRule/lines``.
        case lines
        /// See ``MergeRule/leave``.
        case leave
        /// See ``MergeRule/custom(_:_:)``.
        case custom(String)
    }

    /// The rule without its function.
    public var kind: Kind {
        switch self {
        case .winner: .winner
        case .sum: .sum
        case .union: .union
        case .array(let identity): .array(identifiedBy: identity)
        case .lines: .lines
        case .leave: .leave
        case .custom(let name, _): .custom(name)
        }
    }
}

extension MergeRule.Kind: CustomStringConvertible {
    /// The rule's name in plain words.
    public var description: String {
        switch self {
        case .winner: "winner"
        case .sum: "sum"
        case .union: "union"
        case .array(let identity): "array identified by \(identity)"
        case .lines: "lines"
        case .leave: "leave"
        case .custom(let name): name
        }
    }
}
