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
        return Mapping(call: texts.isEmpty ? nil : pool.submit(.map(texts, by: source)), count: texts.count)
    }

    private struct Mapping: ViewMapping {
        let call: ScriptCall?
        let count: Int

        func wait() throws -> [[Emission]] {
            guard let call else { return [] }
            let answers = try call.wait()
            guard answers.count == count else { throw ViewError("invalid_map_result", "a document has no result") }
            return answers.map { EmissionReader.read($0) }
        }
    }
}
