import Foundation

/// A folder of its own for a test, removed with the object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the folder.
    func path(_ name: String) -> String { path + "/" + name }

    /// Copies something as it lies on the disk right now: what a process that is killed leaves.
    func copy(_ old: String, to new: String) throws {
        try FileManager.default.copyItem(atPath: path(old), toPath: path(new))
    }
}
