internal import Settle
internal import SettleScripting

/// Looks for mistakes in the scripts of a design document, before it is stored.
enum ScriptCheck {
    /// - Throws: ``CommandError`` with status `refused`, which names each file with a mistake and the line.
    static func check(_ scripts: [DesignScript]) throws {
        guard !scripts.isEmpty else { return }
        let pool = ScriptPool(OwnProgram.scriptOptions)
        defer { pool.close() }
        let source = ScriptSource(owner: "design", key: "syntax", document: Array("{}".utf8))
        let answers: [[UInt8]]
        do {
            answers = try pool.run(.syntax(scripts.map { ($0.isModule, $0.text) }, in: source))
        } catch let error as ScriptError {
            throw CommandError(error.name, "the scripts could not be looked at: \(error.reason)", status: .failure)
        }
        let problems = zip(scripts, answers).compactMap { script, answer -> String? in
            guard let problem = (try? JSON(utf8: answer))?.array, problem.count == 2 else { return nil }
            return "\(script.file), line \(problem[1].int ?? 1): \(problem[0].string ?? "it can't be read")"
        }
        guard !problems.isEmpty else { return }
        throw CommandError(
            "compilation_error", "nothing was stored:\n" + problems.joined(separator: "\n"), status: .refused)
    }
}
