internal import SettleCore
internal import SettleDatabase

/// The times from requests to the beginning of their answers, for the last 10 to 20 seconds, as a histogram like
/// CouchDB's `request_time`.
///
/// A time is counted in one of eight buckets between two powers of two, so a percentile is at most 12.5 % too great.
///
///     microseconds  … 16 18 20 22 24 26 28 30 | 32 36 40 44 48 52 56 60 | 64 …
struct RequestTimes: Sendable {
    /// The length of a window. The previous window is shown together with the current one, so there are numbers
    /// even at a window's start.
    private static let window = Duration.seconds(10)

    private struct Window {
        var start: ContinuousClock.Instant
        var counts = [Int](repeating: 0, count: 320)
        var sum = 0.0
        var squares = 0.0
    }

    private var current = Window(start: .now)
    private var before: Window?
    /// The number of requests since the server started, and their total time in seconds.
    private(set) var total = (count: 0, seconds: 0.0)

    /// Counts a request that began at `start`.
    mutating func add(since start: ContinuousClock.Instant, now: ContinuousClock.Instant = .now) {
        advance(to: now)
        let microseconds = max((now - start) / .microseconds(1), 0)
        current.counts[Self.bucket(of: microseconds)] += 1
        current.sum += microseconds
        current.squares += microseconds * microseconds
        total.count += 1
        total.seconds += microseconds / 1e6
    }

    private mutating func advance(to now: ContinuousClock.Instant) {
        let age = now - current.start
        guard age >= Self.window else { return }
        before = age < Self.window * 2 ? current : nil
        current = Window(start: now)
    }

    /// The bucket of a time.
    private static func bucket(of microseconds: Double) -> Int {
        let number = UInt64(min(microseconds, 1e11))
        guard number >= 8 else { return Int(number) }
        let power = 63 - number.leadingZeroBitCount
        return (power - 2) * 8 + Int(number >> (power - 3) & 7)
    }

    /// The upper bound of a bucket, in microseconds; the bucket's times are less.
    private static func end(of bucket: Int) -> Double {
        guard bucket >= 8 else { return Double(bucket + 1) }
        return Double(UInt64(bucket % 8 + 9) << UInt64(bucket / 8 - 1))
    }

    /// A summary of recent times, in milliseconds.
    struct Summary: Sendable {
        let count: Int
        let mean: Double
        let deviation: Double
        /// For each bucket its upper bound, and the number of requests in it.
        let histogram: [(end: Double, count: Int)]

        /// The time that a share of the requests did not exceed; 0 if there was no request.
        func percentile(_ share: Double) -> Double {
            var seen = 0
            for bucket in histogram {
                seen += bucket.count
                if Double(seen) >= Double(count) * share { return bucket.end }
            }
            return histogram.last?.end ?? 0
        }
    }

    /// Summarizes the last 10 to 20 seconds.
    mutating func summary(now: ContinuousClock.Instant = .now) -> Summary {
        advance(to: now)
        let windows = [before, current].compactMap(\.self)
        let counts = current.counts.indices.map { bucket in windows.reduce(0) { $0 + $1.counts[bucket] } }
        let count = counts.reduce(0, +)
        let mean = count == 0 ? 0 : windows.reduce(0) { $0 + $1.sum } / Double(count)
        let square = count == 0 ? 0 : windows.reduce(0) { $0 + $1.squares } / Double(count)
        return Summary(
            count: count, mean: mean / 1000, deviation: max(square - mean * mean, 0).squareRoot() / 1000,
            histogram: counts.indices.filter { counts[$0] > 0 }.map { (Self.end(of: $0) / 1000, counts[$0]) })
    }
}

// MARK: - Shown

extension RequestTimes.Summary {
    private static let percentiles: [(name: Int, share: Double)] = [
        (50, 0.5), (75, 0.75), (90, 0.9), (95, 0.95), (99, 0.99), (999, 0.999),
    ]

    /// The form for `_stats`, as in CouchDB; times are in milliseconds.
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

    /// The form for Prometheus, in seconds.
    func text(_ total: (count: Int, seconds: Double)) -> String {
        let name = "couchdb_request_time_seconds"
        let quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999].map {
            "\(name){quantile=\"\($0)\"} \(percentile($0) / 1000)"
        }
        let head = ["", "# HELP \(name) length of a request inside the server", "# TYPE \(name) summary"]
        return (head + quantiles + ["\(name)_sum \(total.seconds)", "\(name)_count \(total.count)"])
            .joined(separator: "\n") + "\n"
    }

    /// Rounds a time to three digits after the point.
    private static func number(_ milliseconds: Double) -> JSONValue {
        JSONNumber((milliseconds * 1000).rounded() / 1000).map { .number($0) } ?? .null
    }
}
