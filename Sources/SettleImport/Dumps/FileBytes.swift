internal import SettlePlatform

/// The bytes of a file, a piece at a time.
package final class FileBytes {
    private let descriptor: Int32
    private let path: String
    /// The size in bytes.
    package let size: Int64
    /// The number of bytes that were read.
    package private(set) var count: Int64 = 0
    private static let pieceLength = 256 * 1024

    /// Opens a file.
    ///
    /// - Throws: ``ForeignFileError`` with code `inputOutput`.
    package init(path: String) throws {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            let message = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw ForeignFileError(.inputOutput, "can't read \(path): \(message)")
        }
        size = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    /// The next bytes; empty at the end.
    ///
    /// - Throws: ``ForeignFileError`` with code `inputOutput`.
    package func next() throws -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, filled in
                let taken = read(descriptor, buffer.baseAddress, buffer.count)
                if taken < 0 { failure = errno }
                filled = max(taken, 0)
            }
            count += Int64(bytes.count)
            if failure == 0 { return bytes }
            if failure != EINTR {
                throw ForeignFileError(.inputOutput, "can't read \(path): \(String(cString: strerror(failure)))")
            }
        }
    }
}
