internal import SettleDatabase
internal import SettlePlatform

/// The file of a server's settings, which only its owner may read.
struct SettingsFile: Sendable {
    let path: String

    /// The settings, or `nil` if there is no file. Restricts the permissions of a file that others may read.
    ///
    /// - Throws: ``DatabaseError`` for an unreadable or damaged file.
    func read() throws -> ServerSettings? {
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
            if count == 0 { break }
            bytes += piece.prefix(count)
        }
        do { return try ServerSettings(bytes) } catch let error as DatabaseError { throw error } catch {
            throw DatabaseError(.invalid, "the settings file \(path) is damaged")
        }
    }

    /// Writes settings atomically.
    func write(_ settings: ServerSettings) throws {
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("can't write") }
        let bytes = settings.bytes
        let isWritten = bytes.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) } == bytes.count
        let isKept = isWritten && DurableWrite.force(file) == 0
        close(file)
        guard isKept else { throw failure("can't write") }
        try renameDurably(temporary, to: path)
    }

    private func failure(_ what: String) -> DatabaseError {
        DatabaseError(.inputOutput, "\(what) the settings file \(path): \(String(cString: strerror(errno)))")
    }
}

private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, buffer, count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int { write(file, buffer, count) }
