internal import RevisionTree
internal import SettleDatabase

/// Which rows are reduced to one value.
package enum GroupLevel: Hashable, Sendable {
    /// All of them.
    case none
    /// Those of the same key.
    case exact
    /// Those whose keys are arrays that begin with so many same elements, and those of the same key.
    case elements(Int)

    /// How many of a position's bytes those of a group have in common.
    func prefix(of position: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        switch self {
        case .none: position.prefix(0)
        case .exact: position[..<SortKey.end(of: position)]
        case .elements(let count): position[..<SortKey.end(of: position, elements: count)]
        }
    }

    /// The key that is shown for a group, of one of its rows.
    func shown(_ key: ArraySlice<UInt8>) -> [UInt8] {
        guard case .elements(let count) = self, key.first == UInt8(ascii: "["),
            let elements = (try? JSON(utf8: Array(key)))?.array, elements.count > count
        else { return self == .none ? JSON.null.utf8 : Array(key) }
        return JSON.array(Array(elements.prefix(count))).utf8
    }
}
