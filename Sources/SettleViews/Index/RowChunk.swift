internal import RevisionTree
internal import SettleDatabase

/// Some rows that follow one another, as they lie in the file.
///
///     row   length position  length key (JSON)  length id  length value (JSON)
struct RowChunk: Sendable {
    /// Where the parts of a row stand.
    struct Row: Sendable {
        let whole: Range<Int>
        let position: Range<Int>
        let key: Range<Int>
        let id: Range<Int>
        let value: Range<Int>
    }

    let bytes: [UInt8]
    let rows: [Row]

    /// About how many bytes a chunk has.
    static let length = 12 * 1024
    /// How many rows it has at the most.
    static let mostRows = 256

    static let empty = RowChunk()

    private init() { (bytes, rows) = ([], []) }

    /// Reads a chunk.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt`.
    init(_ bytes: [UInt8]) throws {
        var rows: [Row] = []
        let isRead = bytes.withUnsafeBufferPointer { raw -> Bool in
            var place = 0
            func part() -> Range<Int>? {
                guard let length = VariableNumber.read(raw, &place), length >= 0, length <= raw.count - place
                else {
                    return nil
                }
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

    /// A row as it lies in a chunk.
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

    /// Some rows, for who is to see them.
    func indexRows(_ range: Range<Int>) -> [IndexRow] {
        range.map { IndexRow(key: key($0), id: id($0), value: value($0), position: position($0)) }
    }

    /// The first row that does not stand before a position.
    func index(of position: [UInt8]) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if RowPosition.isBefore(self.position(middle), position) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
