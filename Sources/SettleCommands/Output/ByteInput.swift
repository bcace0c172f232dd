internal import SettlePlatform

/// Reads a file or standard input, a piece at a time.
final class ByteInput {
    private let descriptor: Int32
    private let closes: Bool
    /// Its name in messages.
    let name: String
    /// Its size in bytes, if known.
    let size: Int64?
    /// The number of bytes that were read.
    private(set) var count: Int64 = 0

    /// Standard input.
    init() {
        descriptor = STDIN_FILENO
        closes = false
        name = "standard input"
        size = Self.size(of: STDIN_FILENO)
    }

    /// A file, or standard input for `-`.
    static func open(_ path: String) throws -> ByteInput { path == "-" ? ByteInput() : try ByteInput(path: path) }

    private init(path: String) throws {
        descriptor = systemOpen(path)
        closes = true
        name = path
        let number = errno
        size = Self.size(of: descriptor)
        guard descriptor < 0 else { return }
        let message = "can't read \(path): \(String(cString: strerror(number)))"
        throw number == ENOENT ? CommandError.notFound(message) : CommandError.inputOutput(message)
    }

    deinit { if closes, descriptor >= 0 { close(descriptor) } }

    /// Whether it is a terminal.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The next bytes, at most `limit`; empty at the end.
    ///
    /// - Throws: ``CommandError`` with status `inputOutput`, or `interrupted`.
    func read(upTo limit: Int = 256 * 1024) throws -> [UInt8] {
        while true {
            try Interruption.check()
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
                let taken = systemRead(descriptor, buffer)
                if taken < 0 { failure = errno }
                filled = max(taken, 0)
            }
            count += Int64(bytes.count)
            if failure == 0 { return bytes }
            if failure != EINTR {
                throw CommandError.inputOutput("can't read \(name): \(String(cString: strerror(failure)))")
            }
        }
    }

    /// Reads the next line without its end; `nil` at the end of the input. It reads no further, so that other code
    /// can read the rest.
    func readLine() throws -> String? {
        var bytes: [UInt8] = []
        while let byte = try read(upTo: 1).first {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The rest of the input, which must be small.
    func readAll() throws -> [UInt8] {
        var all: [UInt8] = []
        while case let piece = try read(), !piece.isEmpty { all += piece }
        return all
    }

    /// The length of a regular file.
    private static func size(of descriptor: Int32) -> Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }
}

/// `read` under another name, because the class has a member of that name.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

/// `open` under another name, because the class has a member of that name.
private func systemOpen(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }
