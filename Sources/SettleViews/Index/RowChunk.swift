internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Consecutive rows, in the format of the file.
///
///     row   length position  length key (JSON)  length id  length value (JSON)
struct RowChunk: Sendable {
    /// The ranges of a row's parts.
    struct Row: Sendable {
        let whole: Range<Int>
        let position: Range<Int>
        let key: Range<Int>
        let id: Range<Int>
        let value: Range<Int>
    }

    let bytes: [UInt8]
    let rows: [Row]

    /// The approximate size of a chunk in bytes.
    static let length = 12 * 1024
    /// The approximate maximum number of rows. Only the rows of one document and one key may exceed it.
    static let maximumRows = 256

    static let empty = RowChunk()

    private init() { (bytes, rows) = ([], []) }

    /// Parses a chunk.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt`.
    init(_ bytes: [UInt8]) throws {
        var rows: [Row] = []
        let isRead = bytes.withUnsafeBytes { raw -> Bool in
            var place = 0
            func part() -> Range<Int>? {
                guard let length = VariableNumber.readLength(raw, &place) else { return nil }
                defer { place += length }
                return place..<place + length
            }
            while place < raw.count {
                let start = place
                guard let position = part(), let key = part(), let id = part(), let value = part() else { return false }
                rows.append(Row(whole: start..<place, position: position, key: key, id: id, value: value))
            }
            return true
        }
        guard isRead else { throw DatabaseError(.corrupt, "a part of an index can't be read") }
        self.bytes = bytes
        self.rows = rows
    }

    /// A row in the format of a chunk.
    static func row(position: [UInt8], key: [UInt8], id: DocumentID, value: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        let name = id.string.utf8
        bytes.reserveCapacity(position.count + key.count + name.count + value.count + 12)
        VariableNumber.append(position.count, to: &bytes)
        bytes += position
        VariableNumber.append(key.count, to: &bytes)
        bytes += key
        VariableNumber.append(name.count, to: &bytes)
        bytes += name
        VariableNumber.append(value.count, to: &bytes)
        bytes += value
        return bytes
    }

    var count: Int { rows.count }

    func position(_ index: Int) -> ArraySlice<UInt8> { bytes[rows[index].position] }
    func key(_ index: Int) -> ArraySlice<UInt8> { bytes[rows[index].key] }
    func id(_ index: Int) -> ArraySlice<UInt8> { bytes[rows[index].id] }
    func value(_ index: Int) -> ArraySlice<UInt8> { bytes[rows[index].value] }

    /// The rows at some indexes, for callers outside of the index.
    func indexRows(_ range: some Sequence<Int>) -> [IndexRow] {
        range.map { IndexRow(key: key($0), id: id($0), value: value($0), position: position($0)) }
    }

    /// The reading order of rows. When descending, rows of one document and one key are still read in ascending
    /// order, as in CouchDB.
    ///
    ///     a1 a2 b1 c1 c2     downward     c1 c2 b1 a1 a2
    func order(of range: Range<Int>, descending: Bool) -> [Int] {
        guard descending else { return Array(range) }
        var order: [Int] = []
        order.reserveCapacity(range.count)
        var end = range.upperBound
        while end > range.lowerBound {
            let start = max(self.start(ofGroupAt: end - 1), range.lowerBound)
            order += start..<end
            end = start
        }
        return order
    }

    /// The index of the first row with the same document and key as another.
    func start(ofGroupAt index: Int) -> Int { max(index - RowPosition.number(of: position(index)), 0) }

    /// Whether a row in the format of a chunk is the first one of its document and key.
    static func beginsGroup(_ row: ArraySlice<UInt8>) -> Bool {
        row.withUnsafeBytes { raw in
            var place = 0
            guard let length = VariableNumber.readLength(raw, &place) else { return true }
            return RowPosition.number(of: raw[place..<place + length]) == 0
        }
    }

    /// The index of the first row at or after a position.
    func index(of position: [UInt8]) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if RowPosition.isBefore(self.position(middle), position) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
