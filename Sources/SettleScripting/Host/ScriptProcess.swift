internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A worker process, used by one thread at a time.
final class ScriptProcess {
    /// The outcome of a request.
    enum Outcome {
        case answered(ScriptCall.Answer)
        /// The process has ended with an exit code, which is above 128 for a signal.
        case ended(Int32)
    }

    private let pid: pid_t
    /// The socket that is the worker's standard input and output.
    private let channel: Descriptor
    /// The contexts in the process, by owner and key, least recently used first.
    private var contexts: [(owner: String, key: String, number: UInt32)] = []
    private var lastContext: UInt32 = 0
    private let options: ScriptOptions
    /// Whether the process has lowered its priority because of a slow function, which can't be undone.
    private(set) var hasGivenWay = false

    /// The maximum number of contexts per process.
    private static let maximumContexts = 24
    /// The maximum size of the answer to one request, in bytes.
    private static let longestAnswer = 512 << 20
    /// The wall-clock time that a call may take, as a multiple of its time limit.
    private static let maximumWaiting: Int64 = 12
    /// The maximum size of the items in a frame, unless a single item is larger.
    private static let frameLength = 4 << 20

    /// Whether the process has run no scripts of other sources.
    func isNew(to source: ScriptSource) -> Bool {
        contexts.allSatisfy { $0.owner == source.owner && $0.key.hasSameBytes(as: source.key) }
    }

    /// Whether the process has ended between two requests. An idle process sends nothing, so only the end of its
    /// socket can be read.
    var hasEnded: Bool { channel.waitToRead(milliseconds: 0) }

    /// Starts a process.
    ///
    /// - Throws: ``ScriptError`` when it can't be started.
    init(_ options: ScriptOptions) throws {
        self.options = options
        guard let (ours, theirs) = Sockets.pair() else { throw Self.failure("no socket", errno) }
        defer { Descriptor(number: theirs).close() }
        channel = Descriptor(number: ours)
        var actions = ChildProcess.noFileActions
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, theirs, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, theirs, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        let words =
            [options.executable] + options.arguments + [String(options.timeLimit), String(options.memoryLimit)]
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var started: pid_t = 0
        let code = posix_spawn(&started, options.executable, &actions, nil, &pointers, &environment)
        pid = started
        guard code == 0 else {
            channel.close()
            throw Self.failure("can't start \(options.executable)", code)
        }
        // The server has priority over scripts.
        ChildProcess.setPriority(5, of: pid)
    }

    /// Closes the connection, so that the process ends; kills it if it no longer responds.
    func end(killing: Bool = false) {
        if killing { kill(pid, SIGKILL) }
        channel.close()
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// Sends a request and waits for the answer.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - slowly: Called once if the process computes for longer than a quarter of a second before it answers. The time in
    ///     which a busy machine does not let it compute is not counted.
    /// - Returns: The answer, or that the process has ended without one.
    func run(_ request: ScriptRequest, slowly: () -> Void) -> Outcome {
        let source = request.source
        let known = contexts.firstIndex { $0.owner == source.owner && $0.key.hasSameBytes(as: source.key) }
        if known == nil, contexts.count >= Self.maximumContexts {
            let outcome = exchange(.drop, contexts.removeFirst().number, [], owner: source.owner, slowly: {})
            guard case .answered(.success) = outcome else { return outcome }
        }
        let entry: (owner: String, key: String, number: UInt32)
        if let known {
            entry = contexts.remove(at: known)
        } else {
            lastContext += 1
            entry = (source.owner, source.key, lastContext)
            let outcome = exchange(.load, entry.number, [source.json], owner: source.owner, slowly: slowly)
            guard case .answered(.success) = outcome else { return outcome }
        }
        contexts.append(entry)
        return run(request, in: entry.number, slowly)
    }

    /// Sends a request in as many frames as needed, each with the leading items.
    private func run(_ request: ScriptRequest, in context: UInt32, _ slowly: () -> Void) -> Outcome {
        let (command, owner) = (request.command, request.source.owner)
        let head = request.items.prefix(command.leading)
        var rest = request.items.dropFirst(command.leading)
        var (results, length): ([[UInt8]], Int) = ([], 0)
        repeat {
            let piece = command.isDivisible ? Self.piece(of: rest) : rest
            rest = rest.dropFirst(piece.count)
            let outcome = exchange(command, context, Array(head + piece), owner: owner, slowly: slowly)
            guard case .answered(.success(let part)) = outcome else { return outcome }
            length += part.reduce(0) { $0 + $1.count }
            guard length <= Self.longestAnswer else {
                kill(pid, SIGKILL)
                return ended()
            }
            results += part
        } while !rest.isEmpty
        return .answered(.success(results))
    }

    private static func piece(of items: ArraySlice<[UInt8]>) -> ArraySlice<[UInt8]> {
        var length = 0
        let end = items.firstIndex { item in
            length += item.count
            return length > frameLength
        }
        return items[..<max(end ?? items.endIndex, min(items.startIndex + 1, items.endIndex))]
    }

    private func exchange(
        _ command: ScriptCommand, _ context: UInt32, _ items: [[UInt8]], owner: String, slowly: () -> Void
    ) -> Outcome {
        var frame = ScriptFrame(
            kind: command.rawValue, context: context, capacity: items.reduce(0) { $0 + $1.count + 5 })
        for item in items { frame.add(item) }
        guard channel.write(frame.finish()) else { return ended() }
        var results: [[UInt8]] = []
        var length = 0
        var isSlow = false
        let begun = ChildProcess.processorTime(of: pid)
        // The worker itself ends calls that use too much processor time; this timeout is for a worker that fails to
        // do so. It is wall-clock time: on a busy machine a worker of low priority gets only a small part of it.
        var left = Int64(options.timeLimit + 2000) * Int64(items.count + 1) * Self.maximumWaiting
        while true {
            while !channel.waitToRead(milliseconds: 250) {
                left -= 250
                if !isSlow, hasComputed(since: begun) {
                    slowly()
                    isSlow = true
                }
                guard left > 0 else {
                    kill(pid, SIGKILL)
                    _ = ended()
                    return .ended(ScriptExit.timeout)
                }
            }
            guard let bytes = channel.readFrame(), let (kind, _, ranges) = ScriptFrame.parse(bytes) else {
                return ended()
            }
            let parts = ranges.map { Array(bytes[$0]) }
            switch ScriptReply(rawValue: kind) {
            case .log: if let line = parts.first { options.log(owner, String(decoding: line, as: UTF8.self)) }
            case .part:
                results += parts
                length += bytes.count
                guard length <= Self.longestAnswer else {
                    kill(pid, SIGKILL)
                    return ended()
                }
            case .done: return .answered(.success(results))
            case .slow: hasGivenWay = true
            case .failed: return .answered(.failure(ScriptError(json: parts.first ?? [])))
            case nil: return ended()
            }
        }
    }

    /// Whether the process has computed for a quarter of a second since then; also if the system does not tell.
    private func hasComputed(since begun: Int64?) -> Bool {
        guard let begun, let now = ChildProcess.processorTime(of: pid) else { return true }
        return now - begun >= ScriptWatchdog.slow
    }

    /// Waits for the end of the process, which may have closed its socket earlier.
    private func ended() -> Outcome {
        channel.close()
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return .ended(signal == 0 ? status >> 8 & 0xFF : 128 + signal)
    }

    private static func failure(_ what: String, _ code: Int32) -> ScriptError {
        ScriptError("os_process_error", "\(what): \(String(cString: strerror(code)))")
    }
}
