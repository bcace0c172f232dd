internal import SettleCore
internal import SettleScripting
internal import SettleViews

/// A reduce function that is a script.
struct ScriptReducer: ViewReducer {
    let pool: ScriptPool
    let source: ScriptSource
    let function: String

    /// How many bytes of rows are sent at a time.
    private static let pieceLength = 4 << 20

    func reduce(_ groups: [[IndexRow]]) throws -> [[UInt8]] {
        try run(groups, again: false) { rows, bytes in
            for (index, row) in rows.enumerated() {
                bytes += Array((index == 0 ? "[[" : ",[[").utf8)
                bytes += row.key
                bytes.append(UInt8(ascii: ","))
                JSONValue.append(String(decoding: row.id, as: UTF8.self), to: &bytes)
                bytes += [UInt8(ascii: "]"), UInt8(ascii: ",")]
                bytes += row.value
                bytes.append(UInt8(ascii: "]"))
            }
        }
    }

    func rereduce(_ groups: [[[UInt8]]]) throws -> [[UInt8]] {
        let overflows = groups.map { $0.first { Self.overflow(of: $0) != nil } }
        let left = groups.indices.filter { overflows[$0] == nil }
        let values = try run(left.map { groups[$0] }, again: true) { values, bytes in
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += value
            }
        }
        var results = overflows.map { $0 ?? [] }
        for (index, value) in zip(left, values) { results[index] = value }
        return results
    }

    /// Why a function's result was not kept: it had not become smaller than what it reduced. `nil` for other values.
    static func overflow(of value: [UInt8]) -> JSONValue? {
        guard value.starts(with: Array("{\"reduce_overflow_error\"".utf8)) else { return nil }
        let members = (try? JSONValue(utf8: value))?.object
        return members?.count == 1 ? members?["reduce_overflow_error"] : nil
    }

    private func run<Group>(
        _ groups: [Group], again: Bool, _ append: (Group, inout [UInt8]) -> Void
    ) throws -> [[UInt8]] {
        var results: [[UInt8]] = []
        var inputs: [[UInt8]] = []
        var length = 0
        func send() throws {
            guard !inputs.isEmpty else { return }
            let answers = try pool.run(.reduce(inputs, by: [function], again: again, in: source))
            guard answers.count == inputs.count else {
                throw MapIndexError("invalid_reduce_result", "a reduce function gave no result")
            }
            // Each is an array of one value.
            results += try answers.map { answer in
                guard let value = try? JSONValue(utf8: answer), let first = value[0] else {
                    throw MapIndexError("invalid_reduce_result", "a reduce function's result is no JSON")
                }
                return first.utf8
            }
            (inputs, length) = ([], 0)
        }
        for group in groups {
            var bytes: [UInt8] = [UInt8(ascii: "[")]
            append(group, &bytes)
            bytes.append(UInt8(ascii: "]"))
            length += bytes.count
            inputs.append(bytes)
            if length >= Self.pieceLength { try send() }
        }
        try send()
        return results
    }
}
