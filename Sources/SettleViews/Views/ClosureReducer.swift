internal import SettleCore

/// Reduces by closures.
struct ClosureReducer<Value: Codable & Sendable, Result: Codable & Sendable>: ViewReducer {
    let reduceValues: @Sendable ([Value]) -> Result
    let combine: @Sendable ([Result]) -> Result

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        try groups.map { rows in
            ViewCoding.encode(reduceValues(try rows.map { try ViewCoding.decode(Value.self, $0.value) }))
                ?? JSON.null.utf8
        }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        try groups.map { values in
            // A single value needs no combining.
            if values.count == 1 { return values[0] }
            return ViewCoding.encode(combine(try values.map { try ViewCoding.decode(Result.self, $0) }))
                ?? JSON.null.utf8
        }
    }
}
