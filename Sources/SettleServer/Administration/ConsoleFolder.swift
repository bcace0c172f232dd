#if DEBUG
internal import Foundation

/// The console's files from a folder, for developers who change them: a debug build reads them at its start.
///
/// A release build uses only the embedded files.
enum ConsoleFolder {
    /// The files below the folder that `SETTLE_CONSOLE_FOLDER` names, or `nil` if it names none.
    static func files() -> [(name: String, bytes: [UInt8])]? {
        guard let folder = ProcessInfo.processInfo.environment["SETTLE_CONSOLE_FOLDER"],
            let names = FileManager.default.subpaths(atPath: folder)
        else { return nil }
        return names.sorted().compactMap { name in
            FileManager.default.contents(atPath: folder + "/" + name).map { (name, Array($0)) }
        }
    }
}
#endif
