internal import SettlePlatform

/// A file that is open for reading; releasing the object closes it.
final class FileHandleReader {
    private let descriptor: Int32
    private let path: String

    /// - Throws: ``DatabaseError`` with code `inputOutput`.
    init(path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self.path = path
        if descriptor < 0 { throw systemError("opening \(path)") }
    }

    deinit { close(descriptor) }

    /// The file's length.
    func size() throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw systemError("asking for the size of \(path)") }
        return Int64(status.st_size)
    }

    /// The length of a file, without opening it: closing it would release SQLite's locks on it.
    static func size(ofFileAt path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Moves to a position, in bytes from the start.
    func seek(to offset: Int64) throws {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw systemError("seeking in \(path)") }
    }

    /// The next bytes, at most `count`; empty at the end.
    func read(upTo count: Int) throws -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = platformRead(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failed = true }
                if got <= 0 { break }
                filled += got
            }
        }
        if failed { throw systemError("reading \(path)") }
        return bytes
    }
}

private func platformRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, buffer, count)
}
