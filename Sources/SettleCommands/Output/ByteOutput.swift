internal import SettlePlatform

/// Buffers bytes for a file, a pipe or a terminal, and writes them in large pieces.
final class ByteOutput {
    private let descriptor: Int32
    private let closes: Bool
    /// The final name of a new file, and its temporary name until it is complete.
    private let names: (whole: String, partial: String)?
    private var buffer: [UInt8] = []
    /// The number of bytes that were written so far.
    private(set) var count: Int64 = 0
    private static let capacity = 64 * 1024

    init(descriptor: Int32) {
        self.descriptor = descriptor
        closes = false
        names = nil
    }

    /// Begins a file. ``finish()`` renames it to its final name and replaces an existing file.
    ///
    /// Follows symbolic links. A device, a pipe or a similar file is written into and not replaced.
    init(path: String) throws {
        closes = true
        switch FileTarget(path) {
        case .special:
            names = nil
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        case .file(let whole):
            names = (whole, whole + ".partial")
            descriptor = open(whole + ".partial", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        }
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

    /// Writes the buffered bytes. A new file is forced to the disk and renamed.
    func finish() throws {
        try flush()
        guard let names else { return }
        if DurableWrite.force(descriptor) != 0 { throw Self.failure("can't write the output") }
        if systemRename(names.partial, names.whole) != 0 { throw Self.failure("can't write \(names.whole)") }
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
