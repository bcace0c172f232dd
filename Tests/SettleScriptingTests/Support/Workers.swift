import SettleCore
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleScripting

/// A pool of workers built with the tests.
struct Workers {
    let pool: ScriptPool
    let lines: Guarded<[String]>

    /// Creates a pool; a shell does what `start` says before each worker starts.
    init(timeLimit: Int = 5000, workers: Int = 2, memory: Int = 64 << 20, start: String? = nil) {
        var options = ScriptOptions(executable: BuiltTool("ScriptWorkerTool").path, arguments: [])
        if let start {
            options.arguments = ["-c", start + #"; exec "$0" "$@""#, options.executable]
            options.executable = "/bin/sh"
        }
        options.timeLimit = timeLimit
        options.workers = workers
        options.memoryLimit = memory
        let lines = Guarded<[String]>([])
        options.log = { _, line in lines.withLock { $0.append(line) } }
        self.lines = lines
        pool = ScriptPool(options)
    }

    /// Runs one map function over documents.
    func map(_ function: String, _ documents: String..., owner: String = "db") throws -> [String] {
        try map(function, documents, owner: owner)
    }

    /// Runs one map function over documents.
    func map(_ function: String, _ documents: [String], owner: String = "db") throws -> [String] {
        let source = ScriptSource(owner: owner, key: function, maps: [function], library: nil)
        return try pool.run(.map(documents.map { Array($0.utf8) }, by: source)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Runs a validation function with an array of its arguments.
    func validate(_ function: String, _ arguments: String) throws -> String {
        let all = try JSONValue(utf8: Array(arguments.utf8)).array ?? []
        let documents = JSONValue.array(Array(all.prefix(2))).utf8
        let user = JSONValue.array(Array(all.dropFirst(2))).utf8
        let source = Self.design("validate_doc_update", function)
        let answer = try pool.run(.validate([documents], of: user, by: source))
        return answer.map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// A design document of one member.
    static func design(_ name: String, _ function: String, owner: String = "db") -> ScriptSource {
        let text = function.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return ScriptSource(owner: owner, key: name + function, document: Array("{\"\(name)\":\"\(text)\"}".utf8))
    }
}
