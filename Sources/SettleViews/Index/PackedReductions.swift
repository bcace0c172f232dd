internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The values of a view's reduce functions for the rows of an entry, one after another, each after its length.
struct PackedReductions {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: [UInt8]) {
        VariableNumber.append(value.count, to: &bytes)
        bytes += value
    }

    /// The value of a function by its number.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` when there is none.
    func value(_ number: Int) throws -> [UInt8] {
        let value = bytes.withUnsafeBytes { raw -> [UInt8]? in
            var place = 0
            for current in 0...number {
                guard let length = VariableNumber.readLength(raw, &place) else { return nil }
                if current == number { return Array(raw[place..<place + length]) }
                place += length
            }
            return nil
        }
        guard let value else { throw DatabaseError(.corrupt, "a part of an index can't be read") }
        return value
    }
}

extension PackedReductions {
    init(_ bytes: [UInt8]) { self.bytes = bytes }
}
