internal import Foundation
internal import SettleDatabase
internal import SettlePlatform

/// The folder of this node for long bodies of requests, created when it is first needed.
///
/// A node that is killed leaves its folder, perhaps with an import of any size. The system releases its lock when the process ends,
/// so the next node on this machine removes it. One that is killed before its folder has its name leaves an empty one.
final class UploadFolder: Sendable {
    private let base: String
    private let made = Guarded<(path: String, lock: FileLock)?>(nil)
    private static let beginning = "settle-uploads-"

    /// Creates nothing yet.
    ///
    /// - Parameter base: The folder in which it will be; by default that of the system for temporary files.
    init(in base: String? = nil) {
        self.base = base ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    }

    /// The path of the folder, which the first call creates. That call also removes the folders that killed nodes have left.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`.
    func path() throws -> String {
        try made.withLock { made in
            if let made { return made.path }
            removeAbandoned()
            // It gets its name once it is locked: other nodes don't take it for one that was left.
            let name = "\(getpid())-\(SecureRandom.hexadecimal(bytes: 4))"
            let (new, folder) = ("\(base)/.\(Self.beginning)\(name)", "\(base)/\(Self.beginning)\(name)")
            guard mkdir(new, 0o700) == 0 else { throw systemError("making the folder \(folder)") }
            do {
                guard let lock = try FileLock(path: Self.lock(in: new)), rename(new, folder) == 0 else {
                    throw systemError("naming the folder \(folder)")
                }
                made = (folder, lock)
                return folder
            } catch {
                try? FileManager.default.removeItem(atPath: new)
                throw error
            }
        }
    }

    private static func lock(in folder: String) -> String { folder + "/lock" }

    /// Removes this user's folders whose locks nobody holds.
    private func removeAbandoned() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
        where name.hasPrefix(Self.beginning) {
            let folder = "\(base)/\(name)"
            var status = stat()
            guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
                let lock = try? FileLock(path: Self.lock(in: folder))
            else { continue }
            try? FileManager.default.removeItem(atPath: folder)
            lock.release()
        }
    }

    deinit { if let made = made.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: made.path) } }
}
