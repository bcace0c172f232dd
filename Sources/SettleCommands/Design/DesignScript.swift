internal import Settle
internal import SettleScripting

/// A function or module of a design document, and the file it is in.
struct DesignScript {
    /// Its path in the document.
    let path: [String]
    /// The file, as messages name it.
    let file: String
    let text: String

    /// Whether it is a module for `require`, not a function.
    var isModule: Bool { !Self.isFunction(path) }

    /// Whether a member of a design document is the source of a function.
    static func isFunction(_ path: [String]) -> Bool {
        switch path.first {
        case "validate_doc_update", "rewrites": path.count == 1
        case "filters", "updates", "shows", "lists": path.count == 2
        case "views": path.count == 3 && path[1] != "lib" && ["map", "reduce"].contains(path[2])
        default: false
        }
    }

    /// Whether a member of a design document is a script, which is stored in a `.js` file.
    static func isScript(_ path: [String]) -> Bool {
        isFunction(path) || path.first == "lib" || path.starts(with: ["views", "lib"])
    }
}

/// Checks the scripts of a design document before it is stored.
extension DesignScript {
    /// - Throws: ``CommandError`` with status `refused`, which names each file with an error and the line.
    static func check(_ scripts: [DesignScript]) throws {
        guard !scripts.isEmpty else { return }
        let pool = ScriptPool(OwnProgram.scriptOptions)
        defer { pool.close() }
        let source = ScriptSource(owner: "design", key: "syntax", document: Array("{}".utf8))
        let answers: [[UInt8]]
        do {
            answers = try pool.run(.syntax(scripts.map { ($0.isModule, $0.text) }, in: source))
        } catch let error as ScriptError {
            throw CommandError(error.name, "the scripts could not be checked: \(error.reason)", status: .failure)
        }
        let problems = zip(scripts, answers).compactMap { script, answer -> String? in
            guard let problem = (try? JSONValue(utf8: answer))?.array, problem.count == 2 else { return nil }
            return "\(script.file), line \(problem[1].int ?? 1): \(problem[0].string ?? "it can't be read")"
        }
        guard !problems.isEmpty else { return }
        throw CommandError(
            "compilation_error", "nothing was stored:\n" + problems.joined(separator: "\n"), status: .refused)
    }
}
