/// A message between the server and a worker.
///
///     length  kind  context  count   length item 0      length item 1 …
///     u32     u8    u32      u32     u32    bytes  00    u32    bytes  00
///
/// Numbers are little-endian; the first is the number of bytes after it. Each item is followed by a zero that is
/// not part of its length; JavaScriptCore needs it as a terminator.
struct ScriptFrame {
    /// The bytes of a frame, length first.
    private(set) var bytes: [UInt8]
    private var count: UInt32 = 0

    /// The number of bytes before the items.
    private static let head = 13
    /// The largest frame, in bytes.
    static let largest = 256 << 20

    /// Begins a frame.
    init(kind: UInt8, context: UInt32 = 0, capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(Self.head + capacity)
        bytes += [0, 0, 0, 0, kind]
        append(context)
        append(0)
    }

    /// Whether there are no items yet.
    var isEmpty: Bool { count == 0 }

    /// Adds an item.
    mutating func add(_ item: some Collection<UInt8>) {
        append(UInt32(truncatingIfNeeded: item.count))
        bytes += item
        bytes.append(0)
        count += 1
    }

    /// Fills in the numbers of the header, and returns the frame.
    mutating func finish() -> [UInt8] {
        set(UInt32(truncatingIfNeeded: bytes.count - 4), at: 0)
        set(count, at: 9)
        return bytes
    }

    private mutating func append(_ number: UInt32) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    private mutating func set(_ number: UInt32, at position: Int) {
        withUnsafeBytes(of: number.littleEndian) { raw in
            for (offset, byte) in raw.enumerated() { bytes[position + offset] = byte }
        }
    }

    /// Parses a frame without its length: the kind, the context, and the ranges of its items.
    ///
    /// - Returns: `nil` for bytes that are not a frame.
    static func parse(_ bytes: [UInt8]) -> (kind: UInt8, context: UInt32, items: [Range<Int>])? {
        guard bytes.count >= head - 4 else { return nil }
        let count = Int(number(bytes, at: 5))
        var items: [Range<Int>] = []
        items.reserveCapacity(min(count, bytes.count / 5))
        var position = head - 4
        for _ in 0..<count {
            guard position + 4 <= bytes.count else { return nil }
            let length = Int(number(bytes, at: position))
            position += 4
            guard position + length < bytes.count, bytes[position + length] == 0 else { return nil }
            items.append(position..<position + length)
            position += length + 1
        }
        return position == bytes.count ? (bytes[0], number(bytes, at: 1), items) : nil
    }

    /// A number in a frame.
    static func number(_ bytes: [UInt8], at position: Int) -> UInt32 {
        UInt32(bytes[position]) | UInt32(bytes[position + 1]) << 8 | UInt32(bytes[position + 2]) << 16
            | UInt32(bytes[position + 3]) << 24
    }
}

// MARK: - ScriptCommand

/// The commands of a worker.
enum ScriptCommand: UInt8, Sendable {
    /// Loads a context: one item, the JSON of a design document or of a view's functions.
    case load = 1
    /// Removes a context.
    case drop
    /// Checks that functions compile: items `["map", "name", "source"]`.
    case check
    /// Runs all map functions on documents, one per item. Answers each with `[[[key,value],…],…]`, a list per
    /// function.
    case map
    /// Runs reduce functions: first the common item, then an item per reduction.
    case reduce
    /// Runs a validation function. First the user and the security object, then items with the new document and the
    /// old one. Answers `1` or the thrown value.
    case validate
    /// Runs a filter: its name and the request, then documents; answers `1` or `0` for each.
    case filter
    /// Runs a map function as a filter: its name, then documents; answers `1` or `0` for each.
    case filterByView
    /// Runs an update function: its name, the document, the request.
    case update
    /// Checks the syntax of sources: items `["function", "source"]`; answers `1` or `["message", line]`.
    case syntax
    /// Runs functions that are not stored: the functions, their context, an array of samples. Answers the results.
    case trial

    /// The number of leading items, before the items with separate answers.
    var leading: Int {
        switch self {
        case .load, .drop, .check, .map, .update, .syntax, .trial: 0
        case .reduce, .validate, .filterByView: 1
        case .filter: 2
        }
    }

    /// Whether the items after the leading ones have separate answers, so that they may be sent in several frames.
    var isDivisible: Bool { ![.load, .drop, .update, .trial].contains(self) }

    /// The function of the prelude that processes one item.
    var function: String {
        switch self {
        case .load: "load"
        case .drop: ""
        case .check: "check"
        case .map: "map"
        case .reduce: "reduce"
        case .validate: "validate"
        case .filter: "filter"
        case .filterByView: "filterByView"
        case .update: "update"
        case .syntax: "syntax"
        case .trial: "trial"
        }
    }
}

// MARK: - ScriptReply

/// The kinds of frames from a worker.
enum ScriptReply: UInt8, Sendable {
    /// The last results of a request.
    case done = 1
    /// Results that are not the last ones.
    case part
    /// Two items, the error's name and reason; nothing follows.
    case failed
    /// A line of a script for the log.
    case log
    /// A function was slow, so the process has lowered its priority. The end of the answer follows.
    case slow
}

// MARK: - ScriptExit

/// The exit codes of a worker.
enum ScriptExit {
    /// The pool closed the connection.
    static let done: Int32 = 0
    /// The request was invalid.
    static let misuse: Int32 = 70
    /// A function exceeded the time limit.
    static let timeout: Int32 = 71
    /// A function exceeded the memory limit.
    static let memory: Int32 = 72
    /// JavaScriptCore is not installed.
    static let engine: Int32 = 73
}
