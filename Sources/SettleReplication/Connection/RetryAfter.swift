internal import SettlePlatform

/// The header `Retry-After`.
enum RetryAfter {
    /// How long to wait, in seconds or until a date; a date is compared with the server's clock if the response has it.
    static func read(
        _ headers: HTTPClientHeaders, now: @autoclosure () -> Double = Authorizer.systemTime
    ) -> Duration? {
        guard let value = headers["Retry-After"] else { return nil }
        if let seconds = Int64(value) { return seconds >= 0 ? .seconds(min(seconds, 1 << 31)) : nil }
        guard let date = HTTPDate.seconds(of: value) else { return nil }
        let present = headers["Date"].flatMap { HTTPDate.seconds(of: $0) } ?? now()
        return .seconds(max(0, date - present))
    }
}
