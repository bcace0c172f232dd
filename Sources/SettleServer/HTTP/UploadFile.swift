internal import SettleDatabase
internal import SettlePlatform

/// A file that takes a long body. While that arrives, the file has no name, and the system removes it at the latest when
/// the process ends.
///
/// One thread at a time writes it. It is read when all bytes have arrived.
final class UploadFile: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Makes an empty file.
    ///
    /// - Parameter folder: The folder to create the file in.
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`.
    init(in folder: String) throws {
        path = folder
        var template = Array("\(folder)/upload.XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw systemError("making a file for an upload in \(folder)") }
        // Processes that run scripts must not inherit it.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
    }

    /// Makes an empty file that keeps its name, for readers that open files by their paths.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - folder: The folder to create the file in.
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`.
    init(named name: String, in folder: String) throws {
        path = folder
        descriptor = open("\(folder)/\(name)", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw systemError("making a file for an upload in \(folder)") }
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`.
    func append(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw systemError("writing an upload to \(path)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Some of the bytes from a position on; empty at the end.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`.
    func read(at offset: Int64) throws -> [UInt8] {
        while true {
            var isFailed = false
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, count in
                let read = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                isFailed = read < 0
                count = max(read, 0)
            }
            if !isFailed { return bytes }
            if errno != EINTR { throw systemError("reading an upload in \(path)") }
        }
    }

    private static let pieceLength = 256 << 10
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

// MARK: - SpooledBody

/// A long body that has arrived completely: most of it is in a file, its end in memory.
final class SpooledBody: RequestBody {
    private struct State {
        var offset: Int64 = 0
        /// Nothing once it was read: its room on the disk is then free while the request is answered.
        var file: UploadFile?
        var rest: [UInt8]
    }

    let declaredLength: Int64?
    private let state: Guarded<State>

    /// - Parameters:
    ///   - file: The beginning.
    ///   - rest: The end.
    ///   - length: The length of both.
    init(_ file: UploadFile, rest: [UInt8], length: Int64) {
        declaredLength = length
        state = Guarded(State(file: file, rest: rest))
    }

    func read() throws -> [UInt8]? {
        try state.withLock { state in
            if let file = state.file {
                let piece = try file.read(at: state.offset)
                state.offset += Int64(piece.count)
                if !piece.isEmpty { return piece }
                state.file = nil
            }
            defer { state.rest = [] }
            return state.rest.isEmpty ? nil : state.rest
        }
    }
}
