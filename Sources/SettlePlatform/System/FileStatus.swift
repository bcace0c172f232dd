/// What the system says of a file.
package struct FileStatus: Sendable, Equatable {
    /// Its length in bytes.
    package let size: Int64
    /// Whether it is a folder.
    package let isFolder: Bool
    /// Whether it is a regular file: no folder, device, pipe or socket.
    package let isRegular: Bool
    /// Its number in its file system, which no other file there has at the same time.
    package let number: UInt64
    /// When its content last changed, in seconds and nanoseconds since 1970.
    package let changed: (seconds: Int64, nanoseconds: Int64)

    /// Asks the system; `nil` where there is no such file.
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
