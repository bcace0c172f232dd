internal import SettleCore
internal import SettleDatabase

/// The rows that are reduced to one value.
package enum GroupLevel: Hashable, Sendable {
    /// All rows.
    case none
    /// Rows with the same key.
    case exact
    /// Rows whose keys are arrays with the same first elements, and rows with the same key.
    case elements(Int)

    /// The part of a position that all rows of its group have in common.
    func prefix(of position: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        switch self {
        case .none: position.prefix(0)
        case .exact: position[..<SortKey.end(of: position)]
        case .elements(let count): position[..<SortKey.end(of: position, elements: count)]
        }
    }

    /// The key of a group, from one of its rows.
    func shown(_ key: ArraySlice<UInt8>) -> [UInt8] {
        guard case .elements(let count) = self, key.first == UInt8(ascii: "["),
            let elements = (try? JSONValue(utf8: Array(key)))?.array, elements.count > count
        else { return self == .none ? JSONValue.null.utf8 : Array(key) }
        return JSONValue.array(Array(elements.prefix(count))).utf8
    }
}
