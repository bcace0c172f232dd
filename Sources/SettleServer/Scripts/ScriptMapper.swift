internal import SettleCore
internal import SettleDatabase
internal import SettleScripting
internal import SettleViews

/// Map functions that are scripts.
struct ScriptMapper: ViewMapper {
    let pool: ScriptPool
    let source: ScriptSource
    /// Whether documents have their `_local_seq`.
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

/// Reads what a worker says was emitted for a document, without building values.
///
///     [[[key,value],[key,value]],[]]        depth 1: functions, 2: their rows, 3: key and value
///
/// The text comes from a process that runs untrusted code, so it is checked first. If it is not valid as a whole, for example
/// because one row is nested too deep, only the invalid rows are lost.
enum EmissionReader {
    /// The rows of a document, and the number of rows that are not valid.
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
