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

// MARK: - FileHandleWriter

/// A file that is open for writing; releasing the object closes it.
final class FileHandleWriter {
    private let descriptor: Int32
    private let path: String

    /// Creates a file; an existing one is truncated, or appended to.
    init(path: String, goesOn: Bool = false) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | (goesOn ? O_APPEND : O_TRUNC) | O_CLOEXEC, 0o600)
        self.path = path
        if descriptor < 0 { throw systemError("making \(path)") }
    }

    deinit { close(descriptor) }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var written = 0
        while written < bytes.count {
            let put = platformWrite(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            if put < 0, errno == EINTR { continue }
            if put < 0 { throw systemError("writing \(path)") }
            written += put
        }
    }

    /// Forces the written bytes to the disk.
    func synchronize() throws {
        if DurableWrite.force(descriptor) != 0 { throw systemError("forcing \(path) to the disk") }
    }
}

/// Renames a file and forces the folder's entry to the disk.
package func renameDurably(_ old: String, to new: String) throws {
    guard rename(old, new) == 0 else { throw systemError("renaming \(old)") }
    try synchronizeFolder(above: new)
}

/// Forces the entries of a file's folder to the disk.
func synchronizeFolder(above path: String) throws {
    let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    let descriptor = open(folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw systemError("opening \(folder)") }
    defer { close(descriptor) }
    if DurableWrite.force(descriptor) != 0 { throw systemError("forcing \(folder) to the disk") }
}

/// Removes a file if it exists.
func removeIfThere(_ path: String) throws {
    if unlink(path) != 0, errno != ENOENT { throw systemError("removing \(path)") }
}

private func platformWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, buffer, count)
}
