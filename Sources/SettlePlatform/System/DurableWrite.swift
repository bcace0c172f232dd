/// Forces what was written to the medium of the disk.
package enum DurableWrite {
    /// Forces the written bytes of a file, or the entries of a folder, to the medium.
    ///
    /// On Apple's systems `fsync` reaches the cache of the drive and not the medium; `F_FULLFSYNC` does. Some file systems,
    /// as those of a network, don't know it: there `fsync` is all there is.
    ///
    /// - Parameter descriptor: The open file or folder.
    /// - Returns: Zero, or below zero with `errno` when the system fails.
    package static func force(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
        guard [ENOTSUP, ENOTTY, EINVAL].contains(errno) else { return -1 }
        #endif
        return fsync(descriptor)
    }
}
