internal import Foundation
internal import SettleScripting

/// The program that runs, as what starts processes that run scripts.
enum OwnProgram {
    /// Where it is, also when its file was replaced meanwhile.
    static var path: String {
        #if os(Linux)
        "/proc/self/exe"
        #else
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }

    /// Scripts run in processes of this program.
    static var scriptOptions: ScriptOptions {
        ScriptOptions(executable: path, arguments: [CommandLineTool.scriptWorker])
    }
}
