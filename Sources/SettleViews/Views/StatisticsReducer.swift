internal import SettleCore
internal import SettleQuery

/// Sum, count, extremes and sum of squares of numbers, or of arrays of numbers element by element: `_stats`.
///
/// A value may already be statistics. Other values make the index fail, as in CouchDB.
struct StatisticsReducer: ViewReducer {
    private static let names = ["sum", "count", "min", "max", "sumsqr"]

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        try groups.map { try Self.reduce($0.lazy.map { Array($0.value) }) }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] { try groups.map { try Self.reduce($0) } }

    private static func reduce(_ values: some Sequence<[UInt8]>) throws -> [UInt8] {
        var total: JSONValue?
        for bytes in values {
            let value = try statistics(of: (try? JSONValue(utf8: bytes)) ?? .null)
            total = try total.map { try join($0, value) } ?? value
        }
        return (total ?? .null).utf8
    }

    /// The statistics of one value.
    private static func statistics(of value: JSONValue) throws -> JSONValue {
        switch value {
        case .number(let number):
            return ["sum": value, "count": 1, "min": value, "max": value, "sumsqr": .number(NumberSum.square(number))]
        case .array(let elements): return .array(try elements.map(statistics))
        case .object(let members):
            return .object(
                JSONObject(
                    try names.map { name in
                        guard let number = members[name] else {
                            throw MapIndexError(
                                "invalid_value", "user _stats input missing required field \(name) (\(value))")
                        }
                        guard number.number != nil else {
                            throw MapIndexError(
                                "invalid_value", "non-numeric _stats input received for \(name): \(number)")
                        }
                        return (name, number)
                    }))
        default: throw MapIndexError("invalid_value", "non-numeric _stats input: \(value)")
        }
    }

    private static func join(_ left: JSONValue, _ right: JSONValue) throws -> JSONValue {
        if let left = left.array, let right = right.array, left.count == right.count {
            return .array(try zip(left, right).map { try join($0, $1) })
        }
        guard let first = left.object, let second = right.object else {
            throw MapIndexError("invalid_value", "non-numeric _stats input: \(right)")
        }
        return .object(
            JSONObject(
                names.map { name in
                    guard let one = first[name]?.number, let other = second[name]?.number else { return (name, .null) }
                    switch name {
                    case "min":
                        return (name, .number(Collation.compare(.number(other), .number(one)) == .after ? one : other))
                    case "max":
                        return (name, .number(Collation.compare(.number(other), .number(one)) == .before ? one : other))
                    default: return (name, .number(NumberSum.add(one, other)))
                    }
                }))
    }
}
