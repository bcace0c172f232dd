internal import SettlePlatform

#if canImport(JavaScriptCore)
internal import JavaScriptCore
#else
internal import CJavaScriptCore
#endif

/// Processes a worker's requests one after the other.
final class ScriptEngine {
    private let group: JSContextGroupRef
    private var contexts: [UInt32: ScriptContext] = [:]
    private let output: Descriptor
    private let watchdog: ScriptWatchdog
    private var logged = 0

    /// The maximum number of log lines per request.
    private static let maximumLines = 100
    /// The maximum number of bytes per log line.
    private static let longestLine = 2000
    /// The size at which partial results are sent.
    private static let pieceLength = 256 * 1024

    /// Loads JavaScriptCore, which no other part of the program needs; returns `false` if it is not installed.
    static func load() -> Bool {
        #if canImport(JavaScriptCore)
        true
        #else
        settle_javascript_load()
        #endif
    }

    /// Creates an engine, after ``load()``.
    init?(output: Descriptor, watchdog: ScriptWatchdog) {
        guard let group = JSContextGroupCreate() else { return nil }
        self.group = group
        self.output = output
        self.watchdog = watchdog
        // Loads all parts of the engine before memory is limited.
        guard ScriptContext(in: group, log: { _ in }) != nil else { return nil }
    }

    deinit { JSContextGroupRelease(group) }

    /// Processes one request and sends the results; returns `false` if the worker has to end.
    func run(_ frame: [UInt8]) -> Bool {
        guard let (kind, number, items) = ScriptFrame.parse(frame), let command = ScriptCommand(rawValue: kind),
            items.count >= command.leading
        else { return false }
        logged = 0
        ScriptLog.taker = { [unowned self] in log($0) }
        if command == .drop {
            contexts[number] = nil
            return send(.done)
        }
        if command == .load || contexts[number] == nil {
            contexts[number] = ScriptContext(in: group) { [unowned self] in log($0) }
        }
        guard let context = contexts[number] else { return false }
        return frame.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: CChar.self)
            return run(command, items.compactMap { bytes.baseAddress?.advanced(by: $0.lowerBound) }, in: context)
        }
    }

    private func run(_ command: ScriptCommand, _ texts: [UnsafePointer<CChar>], in context: ScriptContext) -> Bool {
        // `update` and `trial` get all items as arguments of one call; other functions get one item per call, after
        // the leading ones.
        let calls =
            command == .update || command == .trial
            ? [texts] : texts.dropFirst(command.leading).map { texts.prefix(command.leading) + [$0] }
        var piece = ScriptFrame(kind: ScriptReply.part.rawValue)
        for arguments in calls {
            var failure: [UInt8]?
            var isExhausted = false
            watchdog.begin()
            let isDone = context.call(command.function, arguments) { result in
                switch result.first {
                case UInt8(ascii: "+"):
                    let json = result.dropFirst()
                    if let other = HalfSurrogates.replaced(in: json) { piece.add(other) } else { piece.add(json) }
                case UInt8(ascii: "!"): isExhausted = true
                default: failure = HalfSurrogates.replaced(in: result.dropFirst()) ?? Array(result.dropFirst())
                }
            }
            watchdog.end()
            guard isDone else { return false }
            if isExhausted { _exit(ScriptExit.memory) }
            if let failure { return send(.failed, failure) }
            if piece.bytes.count > Self.pieceLength {
                guard output.write(piece.finish()) else { return false }
                piece = ScriptFrame(kind: ScriptReply.part.rawValue)
            }
        }
        if !piece.isEmpty { guard output.write(piece.finish()) else { return false } }
        return send(.done)
    }

    private func send(_ reply: ScriptReply, _ items: [UInt8]...) -> Bool {
        if reply == .done || reply == .failed, watchdog.hasGivenWay, !send(.slow) { return false }
        var frame = ScriptFrame(kind: reply.rawValue)
        for item in items { frame.add(item) }
        return output.write(frame.finish())
    }

    private func log(_ line: String) {
        logged += 1
        guard logged <= Self.maximumLines else { return }
        _ = send(.log, Array(line.utf8.prefix(Self.longestLine)))
    }
}
