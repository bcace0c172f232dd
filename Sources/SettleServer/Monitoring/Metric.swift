internal import SettleCore

/// A metric, or several that differ by a label.
struct Metric: Sendable {
    /// How a number changes.
    enum Kind: String, Sendable {
        /// It only grows.
        case counter
        /// It goes up and down.
        case gauge
    }

    /// Its path in CouchDB's statistics.
    let path: [String]
    let kind: Kind
    let help: String
    let label: String?
    let values: [(label: String, value: Int)]

    init(_ path: [String], _ kind: Kind, _ help: String, _ value: Int) {
        self.init(path, kind, help, label: nil, values: [("", value)])
    }

    init(_ path: [String], _ kind: Kind, _ help: String, label: String?, values: [(String, Int)]) {
        self.path = path
        self.kind = kind
        self.help = help
        self.label = label
        self.values = values
    }

    /// Its lines for Prometheus; counters without a label end in `_total`, as in CouchDB.
    var text: String {
        var parts = path
        if parts.first == "couchdb" { parts.removeFirst() }
        var name = "couchdb_" + parts.joined(separator: "_")
        if kind == .counter, label == nil, path != ["uptime_seconds"] { name += "_total" }
        var lines = ["", "# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
        lines += values.map { value in
            label.map { "\(name){\($0)=\"\(value.label)\"} \(value.value)" } ?? "\(name) \(value.value)"
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Its numbers for `_stats`, each with its complete path.
    var statistics: [(path: [String], json: JSONValue)] {
        values.map { value in
            let json: JSONValue = [
                "value": .number(JSONNumber(value.value)), "type": .string(kind.rawValue), "desc": .string(help),
            ]
            return (label == nil ? path : path + [value.label], json)
        }
    }
}
