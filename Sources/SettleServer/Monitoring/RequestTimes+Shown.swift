internal import SettleCore

extension RequestTimes.Summary {
    private static let percentiles: [(name: Int, share: Double)] = [
        (50, 0.5), (75, 0.75), (90, 0.9), (95, 0.95), (99, 0.99), (999, 0.999),
    ]

    /// For `_stats`, as CouchDB has it; times are milliseconds.
    var statistics: (path: [String], json: JSONValue) {
        let value: JSONValue = [
            "min": Self.number(histogram.first?.end ?? 0), "max": Self.number(histogram.last?.end ?? 0),
            "arithmetic_mean": Self.number(mean), "standard_deviation": Self.number(deviation),
            "variance": Self.number(deviation * deviation), "median": Self.number(percentile(0.5)),
            "percentile": .array(
                Self.percentiles.map { [.number(JSONNumber($0.name)), Self.number(percentile($0.share))] }),
            "histogram": .array(histogram.map { [Self.number($0.end), .number(JSONNumber($0.count))] }),
            "n": .number(JSONNumber(count)),
        ]
        return (
            ["couchdb", "request_time"],
            ["value": value, "type": "histogram", "desc": "length of a request inside the server, in milliseconds"]
        )
    }

    /// For Prometheus, in seconds.
    func text(_ total: (count: Int, seconds: Double)) -> String {
        let name = "couchdb_request_time_seconds"
        let quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999].map {
            "\(name){quantile=\"\($0)\"} \(percentile($0) / 1000)"
        }
        let head = ["", "# HELP \(name) length of a request inside the server", "# TYPE \(name) summary"]
        return (head + quantiles + ["\(name)_sum \(total.seconds)", "\(name)_count \(total.count)"])
            .joined(separator: "\n") + "\n"
    }

    /// A number with three digits behind the point, which is a microsecond.
    private static func number(_ milliseconds: Double) -> JSONValue {
        JSONNumber((milliseconds * 1000).rounded() / 1000).map { .number($0) } ?? .null
    }
}
