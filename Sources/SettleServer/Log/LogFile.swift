internal import SettleDatabase
internal import SettlePlatform

/// Takes lines and has a thread of its own write them, so that nobody waits for a disk or a pipe.
///
/// What can't be written fast enough is kept up to a bound, and then dropped; how many lines that were is told in their
/// place.
final class LogFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var isWriting = false
        var wantsReopen = false
    }

    private let destination: LogDestination
    /// Touched by the writing thread only, but for the first and the last time.
    private let descriptor: Guarded<Int32>
    private let state = Monitor(State())
    private let pool = WorkerPool(limit: 1)
    private let bound: Int
    private let tellDropped: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - destination: Where lines go.
    ///   - bound: How many bytes may wait.
    ///   - tellDropped: The line that tells how many were dropped.
    /// - Throws: ``DatabaseError`` when the file can't be opened.
    init(
        _ destination: LogDestination, bound: Int = 1 << 20, tellDropped: @escaping @Sendable (Int) -> [UInt8]
    ) throws {
        self.destination = destination
        self.bound = bound
        self.tellDropped = tellDropped
        descriptor = Guarded(try Self.open(destination))
    }

    /// Takes a line, with its end.
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

    /// Opens the file again before the next line is written, for somebody has moved it away.
    func reopen() {
        let begins = state.withLock { state in
            state.wantsReopen = true
            return begin(&state)
        }
        if begins { pool.submit { [self] in drain() } }
    }

    /// Waits for what was taken, a few seconds at most, and closes the file.
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

    /// Writes as far as it goes: a log that can't be written is no reason to stop serving.
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

/// Where a log goes.
public enum LogDestination: Sendable, Equatable {
    /// A file, which is gone on with if it is there.
    case file(String)
    /// An open file of the process: 1 for standard output, 2 for standard error.
    case descriptor(Int32)
}
