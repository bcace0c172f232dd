internal import SettlePlatform

/// Buffers bytes for a file, a pipe or a terminal, and writes them in large pieces.
final class ByteOutput {
    private let descriptor: Int32
    private let closes: Bool
    private var buffer: [UInt8] = []
    /// How many bytes were added.
    private(set) var count: Int64 = 0
    private static let capacity = 64 * 1024

    init(descriptor: Int32) {
        self.descriptor = descriptor
        closes = false
    }

    /// Creates a file, or replaces one of that name.
    init(path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        closes = true
        if descriptor < 0 { throw Self.failure("can't write \(path)") }
    }

    deinit { if closes { close(descriptor) } }

    /// Adds bytes.
    func write(_ bytes: [UInt8]) throws {
        count += Int64(bytes.count)
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.capacity { try flush() }
    }

    /// Adds text.
    func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Writes the buffered bytes.
    ///
    /// - Throws: ``CommandError/outputClosed`` if the reader has closed the output, or with status `inputOutput`.
    func flush() throws {
        var rest = buffer[...]
        buffer = []
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EPIPE {
                throw CommandError.outputClosed
            } else if errno != EINTR {
                throw Self.failure("can't write the output")
            }
        }
    }

    /// Writes the buffered bytes and forces them to the disk.
    func synchronize() throws {
        try flush()
        if DurableWrite.force(descriptor) != 0 { throw Self.failure("can't write the output") }
    }

    /// Renames a finished file.
    static func rename(_ path: String, to name: String) throws {
        if systemRename(path, name) != 0 { throw failure("can't write \(name)") }
    }

    private static func failure(_ doing: String) -> CommandError {
        let number = errno
        let code = number == ENOSPC || number == EDQUOT ? "disk_full" : "input_output"
        return CommandError(code, "\(doing): \(String(cString: strerror(number)))", status: .inputOutput)
    }
}

/// `write` under another name, because the class has a member of that name.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// `rename` under another name, because the class has a member of that name.
private func systemRename(_ path: String, _ name: String) -> Int32 { rename(path, name) }
