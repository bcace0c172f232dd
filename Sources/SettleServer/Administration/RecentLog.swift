internal import SettleCore
internal import SettlePlatform

/// The newest lines of a server's log, in memory only, for its administrators.
///
/// Each kind of lines has the same room, so that thousands of failed requests displace no start and no warning.
/// Long texts are cut, so that the lines take at most a few megabytes.
final class RecentLog: Sendable {
    /// The subject of a line.
    enum Kind: Sendable {
        /// A start, a stop, a warning or another event.
        case event
        /// A request that failed, was cut off, or took long.
        case request
        /// A line of a design document's function, which can write thousands.
        case script
    }

    /// The maximum number of lines of each kind.
    static let capacity = 500
    private static let longestText = 1000

    private struct Line: Sendable {
        /// The position among all lines of the log.
        let number: Int
        let json: JSONValue
    }

    /// The newest lines of a kind, of which the next one replaces the oldest.
    private struct Ring: Sendable {
        private(set) var lines: [Line] = []
        private var next = 0

        mutating func add(_ line: Line) {
            if lines.count < RecentLog.capacity { lines.append(line) } else { lines[next] = line }
            next = (next + 1) % RecentLog.capacity
        }
    }

    private struct State: Sendable {
        var count = 0
        var rings: [Kind: Ring] = [:]
    }

    private let state = Guarded(State())

    /// Adds a line.
    ///
    /// - Parameters:
    ///   - line: Its members, without secrets.
    ///   - kind: Its subject.
    func add(_ line: JSONObject, _ kind: Kind) {
        let json = JSONValue.object(JSONObject(line.map { ($0.name, Self.shortened($0.value)) }))
        state.withLock { state in
            state.count += 1
            state.rings[kind, default: Ring()].add(Line(number: state.count, json: json))
        }
    }

    /// The newest lines of all kinds, the newest one first.
    func newest(_ limit: Int) -> [JSONValue] {
        let lines = state.withLock { $0.rings.values.flatMap(\.lines) }
        return lines.sorted { $0.number > $1.number }.prefix(limit).map(\.json)
    }

    private static func shortened(_ value: JSONValue) -> JSONValue {
        guard let text = value.string, text.utf8.count > longestText else { return value }
        return .string(String(decoding: text.utf8.prefix(longestText), as: UTF8.self) + "…")
    }
}
