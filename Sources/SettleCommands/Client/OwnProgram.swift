internal import Foundation
internal import SettleScripting

/// The program that runs, as what starts processes that run scripts.
enum OwnProgram {
    /// The word that makes this process a worker of a server.
    static let scriptWorker = "script-worker"

    /// Where it is, also when its file was replaced meanwhile.
    private static var program: String {
        #if os(Linux)
        "/proc/self/exe"
        #else
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }

    /// Scripts run in processes of this program.
    static var scriptOptions: ScriptOptions {
        ScriptOptions(executable: program, arguments: [scriptWorker])
    }
}
