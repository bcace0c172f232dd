internal import SettleCore

/// The sum of numbers, arrays of numbers element by element, and objects member by member: `_sum`.
///
/// For values that can't be added the result is an error object instead of a sum.
struct SumReducer: ViewReducer {
    /// An invalid sum, with the value to return instead.
    private struct Failure: Error { let value: JSONValue }

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        groups.map { rows in
            Self.integers(rows.lazy.map(\.value)) ?? Self.sum(rows.lazy.map { Array($0.value) })
        }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] { groups.map { Self.sum($0) } }

    /// The sum if all values are small integers, as usual.
    private static func integers(_ values: some Sequence<ArraySlice<UInt8>>) -> [UInt8]? {
        var sum = 0
        for value in values {
            guard value.count < 18, let number = Int(String(decoding: value, as: UTF8.self)) else { return nil }
            let (next, isTooLarge) = sum.addingReportingOverflow(number)
            guard !isTooLarge else { return nil }
            sum = next
        }
        return Array(String(sum).utf8)
    }

    private static func sum(_ values: some Sequence<[UInt8]>) -> [UInt8] {
        var total: JSONValue = 0
        var length = 0
        for bytes in values {
            length += bytes.count
            do {
                total = try add((try? JSONValue(utf8: bytes)) ?? .null, to: total)
            } catch let failure as Failure { return failure.value.utf8 } catch { return JSONValue.null.utf8 }
        }
        let result = total.utf8
        guard result.count > 5000, result.count * 2 > length else { return result }
        let reason = "Reduce output must shrink more rapidly: input size: \(length) output size: \(result.count)"
        return JSONValue.object(["error": "builtin_reduce_error", "reason": .string(reason)]).utf8
    }

    private static func add(_ value: JSONValue, to total: JSONValue) throws -> JSONValue {
        switch (value, total) {
        case (.number(let value), .number(let total)): return .number(NumberSum.add(total, value))
        case (.array(let value), .array(let total)): return .array(try add(value, to: total))
        case (.number, .array(let total)): return .array(try add([value], to: total))
        case (.array(let value), .number): return .array(try add(value, to: [total]))
        case (.object(let members), _):
            if members["error"] == "builtin_reduce_error" { throw Failure(value: value) }
            if total == 0 { return value }
            guard let sums = total.object else { throw failure(value) }
            return .object(try add(members, to: sums))
        default: throw failure(value)
        }
    }

    private static func add(_ values: [JSONValue], to totals: [JSONValue]) throws -> [JSONValue] {
        var sums = totals
        for (index, value) in values.enumerated() {
            guard index < sums.count else {
                sums.append(value)
                continue
            }
            guard let left = sums[index].number, let right = value.number else { throw failure(.array(values)) }
            sums[index] = .number(NumberSum.add(left, right))
        }
        return sums
    }

    /// Adds objects member by member; the sum has its members ordered by bytes.
    private static func add(_ members: JSONObject, to sums: JSONObject) throws -> JSONObject {
        var sums = sums
        for member in members {
            sums[member.name] = try sums[member.name].map { try add(member.value, to: $0) } ?? member.value
        }
        return JSONObject(
            sums.map { ($0.name, $0.value) }.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) })
    }

    private static func failure(_ value: JSONValue) -> Failure {
        let reason = """
            The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed \
            with other data structures. Objects can be arbitrarily nested, provided that the values for all fields are \
            themselves numbers, arrays of numbers, or objects.
            """
        return Failure(
            value: ["error": "builtin_reduce_error", "reason": .string(reason), "caused_by": value])
    }
}
