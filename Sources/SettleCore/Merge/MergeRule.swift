/// Decides a clash of one member: two or more versions have changed it to different values.
///
/// If a rule does not fit the values, such as ``sum`` with strings, ``MergeRules/onClash`` decides instead, and the
/// decision mentions this.
public enum MergeRule: Sendable {
    /// The value of the first version that changed the member; the CouchDB winner comes first.
    case winner

    /// A number as a counter: the base, or 0, plus the amount that each version has added.
    ///
    ///     base 5, versions 6 and 8        5 + 1 + 3 = 9
    ///
    /// Integers are exact at any size. If any number is a float, the sum is a float: the floats' shortest decimal
    /// representations are added exactly, and the sum is rounded once at the end. So 0.1 and 0.2 make 0.3, and the
    /// order of versions does not affect the result.
    ///
    /// A counter with a rule for its path counts every change: starting from 5, two versions with 6 make 7. A
    /// member without a rule would count as changed to 6 by both. Only versions that are equal as a whole count
    /// once.
    case sum

    /// An array as a set: the base without the values that any version has removed, followed by the values that
    /// versions have added.
    ///
    /// Every value appears once. Values of the base keep their order; additions follow in the order of the
    /// versions.
    case union

    /// An array of objects, merged element by element; elements are matched by the value of this member.
    ///
    /// Elements are merged like objects, member by member. An element that one version has removed and no other has
    /// changed is removed; one that a version has removed and another has changed is kept, with the change. The
    /// order is that of the first version that has moved elements of the base, or else the winner's. Elements that
    /// it lacks follow in the order of the versions.
    ///
    /// The identity must be a string or a number, and unique in every version. Paths of rules leave the element
    /// out: `/items/count` is the `count` of every element of `items`.
    case array(identifiedBy: String)

    /// Text, merged line by line.
    ///
    /// Versions must have changed different lines, with an unchanged line between them; the same change in several
    /// versions is allowed. A line ends with a line feed. Up to 1000 removed and added lines are found, in O(*n* ·
    /// *d*) for *n* lines of which *d* differ; a version that differs more does not fit.
    case lines

    /// No decision: the document stays in conflict.
    case leave

    /// The result of a function: the value, or `nil` to remove the member.
    ///
    /// The result must depend only on the clash: not on a clock, random numbers, or a property of the device.
    /// Otherwise replicas that settle the same conflict write different revisions (SEMANTICS 83).
    case custom(String, @Sendable (MergeClash) -> JSONValue?)
}

/// One member that several versions changed to different values.
public struct MergeClash: Hashable, Sendable {
    /// The member's JSON Pointer, as decisions show it.
    public let path: String
    /// The value from which all versions started; `nil` if the member did not exist.
    public let base: JSONValue?
    /// Each version's value; `nil` if the member does not exist in it.
    public let versions: [JSONValue?]
    /// The positions of the versions that changed the member, in order.
    public let changed: [Int]
}

extension MergeRule {
    /// The kind of a rule, without its function, for comparison and display.
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

    /// The rule's kind, without its function.
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

// MARK: - MergeRules

/// The rules that decide clashes, by field.
///
///     var rules = MergeRules(attributes: ["/stock": .sum, "/tags": .union, "/owner": .leave])
///     rules["/address/city"] = .winner
///
/// A field is identified by its JSON Pointer (RFC 6901): the names on the path to it, each after a slash, with `~0`
/// for a tilde and `~1` for a slash inside a name. Names are matched byte by byte. There are no wildcards.
///
/// A rule for a field that is an object decides about the object as a whole. Without one, objects are merged field
/// by field, and only values that can't be merged further clash.
public struct MergeRules: Sendable {
    /// The rule for all attributes without a separate rule.
    public var onClash: MergeRule
    private var attributes: [[UInt8]: MergeRule] = [:]
    /// The paths of counters and of all objects around them.
    private var countersAndAround: Set<[UInt8]> = []

    /// Makes a set of rules.
    ///
    /// - Parameters:
    ///   - onClash: The rule for attributes without a separate rule. If it does not fit, ``MergeRule/winner`` decides.
    ///   - attributes: Rules by JSON Pointer.
    public init(onClash: MergeRule = .winner, attributes: [String: MergeRule] = [:]) {
        self.onClash = onClash
        for (path, rule) in attributes { self.attributes[Array(path.utf8)] = rule }
        findCounters()
    }

    /// The rule of one field, identified by its JSON Pointer; `nil` for none.
    public subscript(path: String) -> MergeRule? {
        get { attributes[Array(path.utf8)] }
        set {
            attributes[Array(path.utf8)] = newValue
            findCounters()
        }
    }

    /// The attributes that have their own rules, ordered by the bytes of their paths.
    public var paths: [String] {
        attributes.keys.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a rule is a function of the app.
    package var haveAppCode: Bool {
        ([onClash] + attributes.values).contains { if case .custom = $0 { true } else { false } }
    }

    /// The ``paths`` that are not JSON Pointers and so have no effect; for rules entered by a user.
    public var badPaths: [String] { paths.filter { !MergePath.isPointer($0) } }

    /// Whether a field is a counter, or may contain one.
    func mayCount(_ path: MergePath) -> Bool {
        !countersAndAround.isEmpty && countersAndAround.contains(Array(path.rule.utf8))
    }

    private mutating func findCounters() {
        countersAndAround = []
        for (path, rule) in attributes {
            guard case .sum = rule else { continue }
            countersAndAround.insert(path)
            for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
                countersAndAround.insert(Array(path[..<index]))
            }
        }
    }
}

// MARK: - MergeMisfit

/// The reason why a rule could not decide a clash.
public enum MergeMisfit: Error, Hashable {
    /// A version has removed what another one has changed.
    case removed
    /// A counter needs numbers.
    case notNumbers
    /// A set or a list of elements needs arrays.
    case notArrays
    /// Lines need text.
    case notText
    /// An element is not an object, has no string or number as its identity, or has the same identity as another
    /// one.
    case noIdentity
    /// The sum is out of range for a JSON number.
    case outOfRange
    /// Versions changed the same lines, or lines next to each other.
    case sameLines
    /// A version's text is too different from the base to be compared.
    case tooDifferent
}

extension MergeMisfit: CustomStringConvertible {
    /// The reason as a clause: `not all values are numbers`.
    public var description: String {
        switch self {
        case .removed: "it was removed in one version and changed in another"
        case .notNumbers: "not all values are numbers"
        case .notArrays: "not all values are arrays"
        case .notText: "not all values are text"
        case .noIdentity: "not every element has a unique identity"
        case .outOfRange: "the sum is too large"
        case .sameLines: "the same lines were changed"
        case .tooDifferent: "the texts are too different"
        }
    }
}

// MARK: - MergeReason

/// The reason for the value of a merged member. Versions are identified by their positions.
public indirect enum MergeReason: Hashable, Sendable {
    /// One version changed the member, so its value was taken.
    case onlyOneChanged(Int)
    /// Several versions made the same change, so it was taken.
    case sameChange([Int])
    /// Several versions changed an object, which was merged member by member; decisions about its members follow.
    case mergedInside
    /// This version's change was the latest, by the clocks in the versions.
    case latest(Int)
    /// The versions clashed, and this rule decided.
    case rule(MergeRule.Kind)
    /// The versions clashed, and a rule did not fit; the last associated value is the reason that decided instead.
    case fellBack(from: MergeRule.Kind, why: MergeMisfit, to: MergeReason)
    /// The versions clashed, and the rule left the document in conflict.
    case left

    /// Whether the member was left undecided.
    public var isLeft: Bool {
        switch self {
        case .left: true
        case .fellBack(_, _, let reason): reason.isLeft
        default: false
        }
    }

    /// The reason as text, such as `only 3-abc changed it`.
    ///
    /// - Parameter name: Returns a name for the version at a position.
    /// - Returns: A clause without a full stop.
    public func explained(naming name: (Int) -> String) -> String {
        switch self {
        case .onlyOneChanged(let version): "only \(name(version)) changed it"
        case .sameChange(let versions):
            versions.map(name).joined(separator: ", ") + " made the same change"
        case .mergedInside: "merged member by member"
        case .latest(let version): "\(name(version)) changed it last"
        case .rule(let kind): "clash, decided by the rule “\(kind)”"
        case .fellBack(let kind, let misfit, let reason):
            "the rule “\(kind)” does not fit, for \(misfit); \(reason.explained(naming: name))"
        case .left: "clash, left in conflict"
        }
    }
}
