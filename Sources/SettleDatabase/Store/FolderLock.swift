internal import SettlePlatform

/// The lock that lets one server have a folder of databases: it is taken before anything there is read or written.
final class FolderLock: Sendable {
    private let folder: String
    private let lock = Guarded<FileLock?>(nil)

    init(_ folder: String) { self.folder = folder }

    /// Takes the lock, unless this one has it.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` when another server has it, or `inputOutput`.
    func take() throws {
        try lock.withLock { lock in
            guard lock == nil else { return }
            let path = folder + "/server.lock"
            guard let taken = try FileLock(path: path) else { throw Self.taken(folder, by: Self.owner(path)) }
            taken.note("\(getpid())")
            lock = taken
        }
    }

    /// Lets another server have the folder.
    func release() {
        lock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    private static func taken(_ folder: String, by owner: String?) -> DatabaseError {
        DatabaseError(
            .inUse,
            """
            another server\(owner.map { ", process \($0)," } ?? "") serves the folder \(folder) already; stop that one first, \
            or serve another folder
            """)
    }

    /// The process that has written its number into the lock's file.
    private static func owner(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = read(file, &bytes, bytes.count)
        let digits = bytes.prefix(max(count, 0)).prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
    }
}
