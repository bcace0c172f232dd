internal import SettleDatabase
internal import SettlePlatform

/// The received part of a long body, in an unlinked file, which the system removes at the latest when the process
/// ends.
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
        var rest: [UInt8]
        var isFileRead = false
    }

    let declaredLength: Int64?
    private let file: UploadFile
    private let state: Guarded<State>

    /// - Parameters:
    ///   - file: The beginning.
    ///   - rest: The end.
    ///   - length: The length of both.
    init(_ file: UploadFile, rest: [UInt8], length: Int64) {
        self.file = file
        declaredLength = length
        state = Guarded(State(rest: rest))
    }

    func read() throws -> [UInt8]? {
        try state.withLock { state in
            if !state.isFileRead {
                let piece = try file.read(at: state.offset)
                state.offset += Int64(piece.count)
                if !piece.isEmpty { return piece }
                state.isFileRead = true
            }
            defer { state.rest = [] }
            return state.rest.isEmpty ? nil : state.rest
        }
    }
}
