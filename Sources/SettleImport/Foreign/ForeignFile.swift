internal import Foundation
internal import SettlePlatform

/// A file of another product. It is opened for reading only, and read at any place.
final class ForeignFile {
    /// The last component of its path, for messages.
    let name: String
    /// Its length in bytes when it was opened.
    let size: Int
    private let descriptor: Int32

    /// The longest record, body or block that is read into memory.
    static let maximumRecord = 256 << 20

    /// Opens a regular file.
    ///
    /// - Throws: ``ForeignFileError`` with code `missing` if there is no such file, `inputOutput` if it can't be opened.
    init(_ url: URL) throws {
        name = url.lastPathComponent
        guard let status = FileStatus(path: url.path) else {
            throw ForeignFileError(.missing, "\(name) is not there: copy the whole folder")
        }
        guard status.isRegular else { throw ForeignFileError(.inputOutput, "\(name) is not a regular file") }
        descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ForeignFileError(.inputOutput, "\(name) can't be opened: \(String(cString: strerror(errno)))")
        }
        size = Int(status.size)
    }

    deinit { close(descriptor) }

    /// Reads bytes that must all be there.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged` if the file ends before, `inputOutput` if the system fails.
    func read(at offset: Int, count: Int) throws -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else {
            throw ForeignFileError(.damaged, "\(name) ends early: \(count) bytes at \(offset) are not in it")
        }
        var failure: ForeignFileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                let result = pread(descriptor, base + filled, count - filled, off_t(offset + filled))
                if result > 0 {
                    filled += result
                } else if result == 0 {
                    failure = ForeignFileError(.damaged, "\(name) became shorter while it was read")
                    return
                } else if errno != EINTR {
                    failure = ForeignFileError(
                        .inputOutput, "\(name) can't be read: \(String(cString: strerror(errno)))")
                    return
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

// MARK: - FixedNumber

/// Unsigned numbers of a fixed size in bytes from a file. `nil` where the bytes end before.
enum FixedNumber {
    /// The lowest byte first.
    static func little<Number: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, as type: Number.Type = Number.self
    ) -> Number? {
        guard offset >= 0, bytes.count >= MemoryLayout<Number>.size,
            offset <= bytes.count - MemoryLayout<Number>.size
        else { return nil }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    /// The highest byte first.
    static func big<Number: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, _ offset: Int, as type: Number.Type = Number.self
    ) -> Number? {
        little(bytes, offset, as: type).map(\.byteSwapped)
    }
}
