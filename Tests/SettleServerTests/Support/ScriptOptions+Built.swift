import Foundation
import SettleScripting

extension ScriptOptions {
    /// Workers that run the tool built with the tests.
    static var built: ScriptOptions {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let tool = tests.deletingLastPathComponent().appending(path: "settle").path
        return ScriptOptions(executable: tool, arguments: ["script-worker"])
    }
}
