internal import SettleCore
internal import SettleDatabase
internal import SettleScripting
internal import SettleViews

/// Runs map functions that are scripts.
struct ScriptMapper: ViewMapper {
    let pool: ScriptPool
    let source: ScriptSource
    /// Whether documents contain `_local_seq`.
    let hasSequence: Bool

    func start(_ documents: [DocumentRecord]) throws -> any ViewMapping {
        let texts = documents.map { ScriptDocument.mapped($0, hasSequence: hasSequence) }
        return Mapping(
            call: texts.isEmpty ? nil : pool.submit(.map(texts, by: source)), ids: documents.map(\.id),
            log: { [pool, source] in pool.log($0, of: source) })
    }

    private struct Mapping: ViewMapping {
        let call: ScriptCall?
        let ids: [DocumentID]
        let log: @Sendable (String) -> Void

        func wait() throws -> [[Emission]] {
            guard let call else { return [] }
            let answers = try call.wait()
            guard answers.count == ids.count else {
                throw MapIndexError("invalid_map_result", "a document has no result")
            }
            return zip(answers, ids).map { answer, id in
                let (rows, lost) = EmissionReader.read(answer)
                if lost > 0 { log("\(lost) rows can't be stored as JSON with doc._id \(id)") }
                return rows
            }
        }
    }
}

/// Reads the rows that a worker has emitted for a document, without building values.
///
///     [[[key,value],[key,value]],[]]        depth 1: functions, 2: their rows, 3: key and value
///
/// The text comes from a process that runs untrusted code, so it is checked first. If it is not valid as a whole,
/// for example because one row is nested too deeply, only the invalid rows are lost.
enum EmissionReader {
    /// The rows of a document, and the number of invalid ones.
    static func read(_ answer: [UInt8]) -> (rows: [Emission], lost: Int) {
        answer.withUnsafeBufferPointer { text in
            let all = emissions(text)
            if (try? JSONValue.validate(utf8: text)) != nil { return (all, 0) }
            let rows = all.filter { isValid($0.key) && isValid($0.value) }
            return (rows, max(all.count - rows.count, all.isEmpty ? 1 : 0))
        }
    }

    private static func isValid(_ json: [UInt8]) -> Bool {
        json.withUnsafeBufferPointer { (try? JSONValue.validate(utf8: $0)) != nil }
    }

    private static func emissions(_ text: UnsafeBufferPointer<UInt8>) -> [Emission] {
        var found: [Emission] = []
        var (view, start, comma, index) = (0, 0, 0, 0)
        var structure = JSONStructure()
        while let mark = structure.next(in: text, from: &index) {
            switch (mark, structure.depth) {
            case (UInt8(ascii: "["), 3), (UInt8(ascii: "{"), 3): (start, comma) = (index, 0)
            case (UInt8(ascii: ","), 1): view += 1
            case (UInt8(ascii: ","), 3) where comma == 0: comma = index
            case (UInt8(ascii: "]"), 2), (UInt8(ascii: "}"), 2):
                guard comma > start + 1, index > comma + 1 else { continue }
                found.append(
                    Emission(view: view, key: Array(text[start..<comma - 1]), value: Array(text[comma..<index - 1])))
            default: break
            }
        }
        return found
    }
}

// MARK: - ScriptReducer

/// Runs a reduce function that is a script.
struct ScriptReducer: ViewReducer {
    let pool: ScriptPool
    let source: ScriptSource
    let function: String

    /// The maximum size of the rows that are sent at a time, in bytes.
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

    /// The reason why a function's result was discarded: it was not smaller than its input. `nil` for other values.
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
            // Each answer is an array with one value.
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
