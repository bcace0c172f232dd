import SettleScripting
import SettleTesting

extension ScriptOptions {
    /// Workers built with the tests.
    static var built: ScriptOptions { ScriptOptions(executable: BuiltTool("ScriptWorkerTool").path, arguments: []) }
}
