internal import SettleCore
internal import SettleDatabase

/// The bytes by which rows are ordered: the key's, the document's id, and the number among the rows of both.
///
///     key's SortKey │ id, 00 as 00 01 │ 00 00 │ number, four bytes from the highest down
enum RowPosition {
    /// The position of a row.
    static func make(key: [UInt8], id: DocumentID, number: Int) -> [UInt8] {
        var bytes = key
        bytes.reserveCapacity(key.count + id.string.utf8.count + 6)
        append(id, to: &bytes)
        bytes += [0, 0]
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        return bytes
    }

    /// The number in a position.
    static func number(of position: some Collection<UInt8>) -> Int {
        position.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// A lower bound, inclusive, of the positions of a key, for documents from an id on.
    static func from(key: [UInt8], id: DocumentID?) -> [UInt8] {
        var bytes = key
        if let id { append(id, to: &bytes) }
        return bytes
    }

    /// An upper bound, exclusive, of the positions of a key, for documents up to an id.
    static func behind(key: [UInt8], id: DocumentID?) -> [UInt8] {
        var bytes = key
        guard let id else { return bytes + [0xFF] }
        append(id, to: &bytes)
        return bytes + [0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    }

    private static func append(_ id: DocumentID, to bytes: inout [UInt8]) {
        for byte in id.string.utf8 {
            bytes.append(byte)
            if byte == 0 { bytes.append(1) }
        }
    }

    /// Whether one position precedes another.
    static func isBefore(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.lexicographicallyPrecedes(right)
    }
}
