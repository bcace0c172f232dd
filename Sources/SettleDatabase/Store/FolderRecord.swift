internal import SettlePlatform

/// The settings of the server of a folder: a file beside the databases that only its owner may read, and the folder's lock.
final class FolderRecord: ServerRecord {
    private let path: String
    private let lock: FolderLock

    init(_ folder: String) {
        path = folder + "/server.json"
        lock = FolderLock(folder)
    }

    var place: String { "the settings file \(path)" }

    /// The lock keeps other servers from writing.
    var newestVersion: Int64? { nil }

    func take() throws { try lock.take() }

    func release() { lock.release() }

    /// Restricts the permissions of a file that others may read.
    func read() throws -> (bytes: [UInt8], version: Int64)? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            guard errno == ENOENT else { throw failure("can't read") }
            return nil
        }
        defer { close(file) }
        guard fchmod(file, 0o600) == 0 else { throw failure("can't close to others") }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = systemRead(file, &piece, piece.count)
            guard count >= 0 else { throw failure("can't read") }
            if count == 0 { return (bytes, 0) }
            bytes += piece.prefix(count)
        }
    }

    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
        // If the file is a symbolic link, its target is replaced and the link stays.
        guard case .file(let whole) = FileTarget(path) else { throw failure("can't replace") }
        let temporary = whole + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("can't write") }
        let isWritten = bytes.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) } == bytes.count
        let isKept = isWritten && DurableWrite.force(file) == 0
        close(file)
        guard isKept else { throw failure("can't write") }
        try renameDurably(temporary, to: whole)
        return 0
    }

    private func failure(_ what: String) -> DatabaseError {
        DatabaseError(.inputOutput, "\(what) \(place): \(String(cString: strerror(errno)))")
    }
}

private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, buffer, count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int { write(file, buffer, count) }
