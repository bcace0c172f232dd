internal import Foundation

/// A folder for one test, removed with all it holds when the object goes.
public final class TemporaryFolder: Sendable {
    /// The folder's path.
    public let path: String

    /// Makes a new empty folder.
    ///
    /// - Throws: What the system says when it can't.
    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/settle-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the folder.
    public func callAsFunction(_ name: String) -> String { path + "/" + name }
}
