/// The parts of the table, in the order of the packed columns; `Scripts/collation/derive.py` describes them.
struct CollationParts {
    private(set) var pages = [UInt16](repeating: 0, count: 0x1100)
    private(set) var entries = [UInt32](repeating: 0, count: 256)
    private(set) var elements: [UInt64] = []
    private(set) var contractions = CollationContractions()
    private(set) var isShared: [Bool] = []

    init(_ reader: inout CollationReader) {
        entries.reserveCapacity(600 << 8)
        readRanked(&reader)
        readOthers(&reader)
        let count = reader.number()
        let points = reader.steps(count)
        for (point, both) in zip(points, reader.column(count)) {
            contractions.classes[UInt32(point)] = UInt16(both)
        }
        isShared = reader.column(256).map { $0 == 1 }
    }

    /// The code points with one element of common weights.
    private mutating func readRanked(_ reader: inout CollationReader) {
        let count = reader.number()
        let runs = reader.number()
        let blocks = reader.column(runs)
        let lengths = reader.column(runs)
        var last = [Int](repeating: 0, count: (blocks.max() ?? 0) + 1)
        var points: [Int] = []
        points.reserveCapacity(count)
        for (block, length) in zip(blocks, lengths) {
            for _ in 0..<length {
                last[block] += CollationReader.signed(reader.number())
                points.append(last[block])
            }
        }
        for (point, primary) in zip(points, reader.steps(count)) { set(point, UInt32(primary) << 8 | 0xFF) }
    }

    /// The code points with other elements, and the contractions.
    private mutating func readOthers(_ reader: inout CollationReader) {
        let points = reader.steps(reader.number())
        let flags = reader.column(points.count)
        let lengths = reader.column(points.count)
        var place = 0
        for index in points.indices {
            let entry = CollationTable.isKnown | UInt32(flags[index]) << 6 | UInt32(lengths[index])
            set(points[index], UInt32(place) << 8 | entry)
            place += lengths[index]
        }
        let count = reader.number()
        let (first, second, third) = (reader.column(count), reader.column(count), reader.column(count))
        let sizes = reader.column(count)
        for index in 0..<count {
            let text = [first[index], second[index], third[index]].map { UInt32($0) }
            contractions.add(text, CollationRun(place: UInt32(place), count: sizes[index]))
            place += sizes[index]
        }
        let primaries = reader.steps(place, areSigned: true)
        let secondaries = reader.column(place)
        let tertiaries = reader.column(place)
        elements = (0..<place).map { index in
            UInt64(primaries[index]) << 32 | UInt64(secondaries[index]) << 16 | UInt64(tertiaries[index])
        }
    }

    private mutating func set(_ point: Int, _ entry: UInt32) {
        if pages[point >> 8] == 0 {
            pages[point >> 8] = UInt16(entries.count >> 8)
            entries.append(contentsOf: repeatElement(0, count: 256))
        }
        entries[Int(pages[point >> 8]) << 8 | point & 0xFF] = entry
    }
}
