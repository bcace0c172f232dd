internal import Foundation

/// A folder for one test, removed with its content when the object is released.
public final class TemporaryFolder: Sendable {
    /// The folder's path.
    public let path: String

    /// Makes a new empty folder.
    ///
    /// - Throws: The system's error if it can't be created.
    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/settle-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in the folder.
    public func callAsFunction(_ name: String) -> String { path + "/" + name }
}
