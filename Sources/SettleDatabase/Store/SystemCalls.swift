#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// An error of the system, in its own words.
func systemError(_ doing: String) -> DatabaseError {
    let number = errno
    if number == ENOSPC || number == EDQUOT {
        return DatabaseError(.diskFull, "there is no room left while \(doing); free some and retry")
    }
    return DatabaseError(.inputOutput, "\(doing): \(String(cString: strerror(number)))")
}

/// A file that is open for reading, closed with the object.
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

    /// Goes to a position, in bytes from the start.
    func seek(to offset: Int64) throws {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw systemError("seeking in \(path)") }
    }

    /// The next bytes, so many at the most; none at the end.
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

/// A file that is being written, closed with the object.
final class FileHandleWriter {
    private let descriptor: Int32
    private let path: String

    /// Makes a new file; one that is there is emptied.
    init(path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
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

    /// Forces what was written to the disk.
    func synchronize() throws {
        if fsync(descriptor) != 0 { throw systemError("forcing \(path) to the disk") }
    }
}

/// Renames a file and forces the folder's entry to the disk.
func renameDurably(_ old: String, to new: String) throws {
    guard rename(old, new) == 0 else { throw systemError("renaming \(old)") }
    let folder = String(new.prefix(upTo: new.lastIndex(of: "/") ?? new.startIndex))
    let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw systemError("opening \(folder)") }
    defer { close(descriptor) }
    if fsync(descriptor) != 0 { throw systemError("forcing \(folder) to the disk") }
}

private func platformRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(file, buffer, count)
}

private func platformWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, buffer, count)
}
