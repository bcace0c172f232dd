import Testing

@testable import SettleReplication

/// When to try again, by a clock that only the test moves.
@Suite struct RetryPolicyTests {
    private func refusal(_ status: Int, retryAfter: Duration? = nil) -> CouchDBError {
        CouchDBError(status: status, error: "", reason: "", method: "GET", path: "/", retryAfter: retryAfter)
    }

    @Test func `waiting doubles up to the cap, and starts are spread`() throws {
        var generator = SeededGenerator(seed: 1)
        var policy = RetryPolicy()
        policy.cap = .seconds(60)
        var clock = Duration.zero
        for attempt in 1...12 {
            let delay = try #require(policy.delay(after: refusal(503), attempt: attempt, using: &generator))
            let whole = min(Duration.seconds(1 << (attempt - 1)), .seconds(60))
            #expect(delay >= whole * 0.5 && delay <= whole)
            clock += delay
        }
        #expect(clock > .seconds(63 / 2 + 6 * 30) && clock < .seconds(63 + 6 * 60))
        policy.jitter = 0
        #expect(policy.delay(after: refusal(503), attempt: 3, using: &generator) == .seconds(4))
        #expect(policy.delay(after: refusal(503), attempt: .max, using: &generator) == .seconds(60))
    }

    @Test func `the number of attempts is kept`() {
        var generator = SeededGenerator(seed: 1)
        var policy = RetryPolicy()
        policy.attempts = 3
        let error = HTTPClientError(.connectionLost, "")
        let delays = (1...4).map { policy.delay(after: error, attempt: $0, using: &generator) }
        #expect(delays.map { $0 != nil } == [true, true, false, false])
    }

    @Test func `a server's wish counts when it is longer, up to a day`() {
        var generator = SeededGenerator(seed: 1)
        let policy = RetryPolicy()
        let delay = { (wish: Duration) in
            policy.delay(after: refusal(429, retryAfter: wish), attempt: 1, using: &generator)
        }
        #expect(delay(.seconds(700)) == .seconds(700))
        #expect(delay(.seconds(1 << 31)) == .seconds(86400))
        #expect(delay(.zero).map { $0 >= .seconds(0.5) && $0 <= .seconds(1) } == true)
    }

    @Test(arguments: [
        (408, true), (429, true), (500, true), (502, true), (503, true), (504, true), (400, false), (401, false),
        (403, false), (404, false), (409, false), (412, false), (413, false), (501, false),
    ])
    func `a status is tried again or not`(status: Int, isTriedAgain: Bool) {
        #expect(RetryPolicy.isTransient(refusal(status)) == isTriedAgain)
    }

    @Test(arguments: [
        (HTTPClientErrorCode.cannotResolve, true), (.cannotConnect, true), (.timedOut, true), (.connectionLost, true),
        (.proxyFailed, true), (.badAnswer, true), (.badURL, false), (.certificateRejected, false), (.tlsFailed, false),
        (.bodyTooLarge, false), (.bodyFailed, false), (.cancelled, false), (.badRedirect, false), (.badRequest, false),
    ])
    func `a failure is tried again or not`(code: HTTPClientErrorCode, isTriedAgain: Bool) {
        #expect(RetryPolicy.isTransient(HTTPClientError(code, "")) == isTriedAgain)
    }

    @Test func `other errors are never tried again`() { #expect(!RetryPolicy.isTransient(CancellationError())) }

    @Test(
        arguments: [
            ("120", nil, Duration.seconds(120)), ("0", nil, .zero), ("-1", nil, nil), ("soon", nil, nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT", .seconds(30)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 09:49:07 GMT", .zero),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, .seconds(37)),
        ] as [(String, String?, Duration?)])
    func `Retry-After is read in seconds and as a date`(value: String, date: String?, wait: Duration?) {
        var headers: HTTPClientHeaders = ["retry-after": value]
        headers["Date"] = date
        #expect(RetryAfter.read(headers, now: 784_111_740) == wait)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Wed, 21-Oct-2015 07:28:00 GMT", 1_445_412_480),
        ] as [(String, Double)])
    func `dates are read in each of their spellings`(text: String, seconds: Double) {
        #expect(HTTPDate.seconds(of: text) == seconds)
    }

    @Test(arguments: ["", "now", "06 Nov 1994", "Sun, 06 Nov 1994 25:00:00 GMT", "99 Nov 1994 08:49:37", "1:2:3"])
    func `what is no date is none`(text: String) { #expect(HTTPDate.seconds(of: text) == nil) }
}
