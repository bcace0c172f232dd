/// Why a rule could not decide a clash.
public enum MergeMisfit: Error, Hashable {
    /// A version removed what another changed.
    case removed
    /// A counter needs numbers.
    case notNumbers
    /// A set or a list of elements needs arrays.
    case notArrays
    /// Lines need text.
    case notText
    /// An element is not an object, has no string or number as its identity, or shares it with another.
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
        case .noIdentity: "not every element has an identity of its own"
        case .outOfRange: "the sum is too large"
        case .sameLines: "the same lines were changed"
        case .tooDifferent: "the texts are too different"
        }
    }
}
