/// The status of a file, as the system reports it.
package struct FileStatus: Sendable, Equatable {
    /// Its length in bytes.
    package let size: Int64
    /// Whether it is a folder.
    package let isFolder: Bool
    /// Whether it is a regular file, and not a folder, device, pipe or socket.
    package let isRegular: Bool
    /// Its number, which is unique in its file system at any time.
    package let number: UInt64
    /// The time of the last change of its content, in seconds and nanoseconds since 1970.
    package let changed: (seconds: Int64, nanoseconds: Int64)

    /// Asks the system; `nil` if the file does not exist.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        size = Int64(status.st_size)
        number = UInt64(status.st_ino)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        changed = (Int64(time.tv_sec), Int64(time.tv_nsec))
    }

    package static func == (left: FileStatus, right: FileStatus) -> Bool {
        left.size == right.size && left.changed == right.changed
    }
}

/// The destination of a file, given a path at which something may exist already.
package enum FileTarget: Sendable, Equatable {
    /// A regular file, or nothing yet: a new file may be renamed to this path. It is not a symbolic link.
    case file(String)
    /// A device, a pipe or the like, which is written to and not replaced.
    case special

    /// Examines a path and follows symbolic links, even if their target does not exist yet.
    package init(_ path: String) {
        if let status = FileStatus(path: path), !status.isRegular, !status.isFolder {
            self = .special
        } else {
            self = .file(Self.followed(path))
        }
    }

    private static func followed(_ path: String) -> String {
        var (path, steps) = (path, 0)
        // A cycle of links is left to the system, which refuses to open it.
        while steps < 40, let next = link(at: path) {
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            path = next.hasPrefix("/") ? next : folder + next
            steps += 1
        }
        return path
    }

    /// The destination of a symbolic link; `nil` for anything else.
    private static func link(at path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.bindMemory(to: CChar.self).baseAddress.map { readlink(path, $0, buffer.count) } ?? 0
        }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}

// MARK: - DurableWrite

/// Forces written bytes to the disk's medium.
package enum DurableWrite {
    /// Forces the written bytes of a file, or the entries of a folder, to the medium.
    ///
    /// On Apple's systems `fsync` reaches only the cache of the drive; `F_FULLFSYNC` reaches the medium. Some file
    /// systems, such as network file systems, don't support that; there `fsync` has to suffice.
    ///
    /// - Parameter descriptor: The open file or folder.
    /// - Returns: Zero, or a negative number with `errno` if the system fails.
    package static func force(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        guard [ENOTSUP, ENOTTY, EINVAL].contains(errno) else { return -1 }
        #endif
        return fsync(descriptor)
    }
}
