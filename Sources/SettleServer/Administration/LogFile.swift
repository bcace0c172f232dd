internal import SettleDatabase
internal import SettlePlatform

/// Writes lines on a separate thread, so that no request waits for a disk or a pipe.
///
/// A bounded number of bytes is queued. Further lines are dropped, and a line with the number of dropped lines
/// takes their place.
final class LogFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var isWriting = false
        var wantsReopen = false
    }

    private let destination: LogDestination
    /// Used by the writing thread only, except at the start and the end.
    private let descriptor: Guarded<Int32>
    private let state = Monitor(State())
    private let pool = WorkerPool(limit: 1)
    private let bound: Int
    private let tellDropped: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - destination: The file or descriptor to write to.
    ///   - bound: The maximum number of queued bytes.
    ///   - tellDropped: Returns the line that reports a number of dropped lines.
    /// - Throws: ``DatabaseError`` if the file can't be opened.
    init(
        _ destination: LogDestination, bound: Int = 1 << 20, tellDropped: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        self.destination = destination
        self.bound = bound
        self.tellDropped = tellDropped
        descriptor = Guarded(try Self.open(destination))
    }

    /// Appends a line, which includes its line break.
    func write(_ line: [UInt8]) {
        let begins = state.withLock { state in
            guard state.waiting.count + line.count <= bound else {
                state.dropped += 1
                return false
            }
            state.waiting += line
            return begin(&state)
        }
        if begins { pool.submit { [self] in drain() } }
    }

    /// Reopens the file before the next line is written, after a log rotation.
    func reopen() {
        let begins = state.withLock { state in
            state.wantsReopen = true
            return begin(&state)
        }
        if begins { pool.submit { [self] in drain() } }
    }

    /// Waits up to `seconds` for queued lines, and closes the file.
    func close(within seconds: Double = 2) {
        let isQuiet = state.wait(seconds: seconds) { $0.isWriting ? nil : true } ?? false
        pool.close()
        guard isQuiet, case .file = destination else { return }
        descriptor.withLock { descriptor in
            if descriptor >= 0 { systemClose(descriptor) }
            descriptor = -1
        }
    }

    private func begin(_ state: inout State) -> Bool {
        defer { state.isWriting = true }
        return !state.isWriting
    }

    private func drain() {
        while true {
            let (bytes, reopens) = state.update { state -> ([UInt8], Bool) in
                var bytes = state.waiting
                if state.dropped > 0 { bytes += tellDropped(state.dropped) }
                let reopens = state.wantsReopen
                (state.waiting, state.dropped, state.wantsReopen) = ([], 0, false)
                if bytes.isEmpty, !reopens { state.isWriting = false }
                return (bytes, reopens)
            }
            if bytes.isEmpty, !reopens { return }
            let number = descriptor.withLock { descriptor in
                if reopens, let new = try? Self.open(destination) {
                    if case .file = destination { systemClose(descriptor) }
                    descriptor = new
                }
                return descriptor
            }
            Self.write(bytes, to: number)
        }
    }

    /// Writes as much as possible. A log that can't be written does not stop the server.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                usleep(10_000)
            } else if errno != EINTR {
                return
            }
        }
    }

    private static func open(_ destination: LogDestination) throws -> Int32 {
        switch destination {
        case .descriptor(let number): return number
        case .file(let path):
            let number = systemOpen(path)
            if number >= 0 { return number }
            throw DatabaseError(.inputOutput, "can't write the log \(path): \(String(cString: strerror(errno)))")
        }
    }
}

private func systemOpen(_ path: String) -> Int32 { open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o640) }

private func systemClose(_ descriptor: Int32) { close(descriptor) }

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// The destination of a log.
public enum LogDestination: Sendable, Equatable {
    /// A file, to which lines are appended if it exists.
    case file(String)
    /// An open file descriptor of the process: 1 for standard output, 2 for standard error.
    case descriptor(Int32)
}
