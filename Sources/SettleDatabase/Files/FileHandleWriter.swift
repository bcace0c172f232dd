internal import SettlePlatform

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
