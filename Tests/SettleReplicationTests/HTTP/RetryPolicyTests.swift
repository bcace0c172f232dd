import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleReplication

/// The delays of retries.
@Suite struct RetryPolicyTests {
    private func refusal(_ status: Int) -> CouchDBError {
        CouchDBError(status: status, error: "", reason: "", method: "GET", path: "/")
    }

    @Test func `delays double up to the cap, and starts are spread`() {
        var policy = ReplicationRetryPolicy()
        policy.maximumDelay = .seconds(60)
        for failures in 1...12 {
            let whole = min(.milliseconds(500) * (1 << (failures - 1)), Duration.seconds(60))
            #expect(policy.delay(after: failures, jitter: 0, retryAfter: nil) == whole)
            #expect(policy.delay(after: failures, jitter: 1, retryAfter: nil) == whole / 2)
        }
        #expect(policy.delay(after: .max, jitter: 0, retryAfter: nil) == .seconds(60))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min)])
    func `delays of any length can be doubled, and waited for`(delay: Duration) {
        var policy = ReplicationRetryPolicy()
        (policy.firstDelay, policy.maximumDelay) = (delay, delay)
        let found = policy.delay(after: 60, jitter: 0, retryAfter: nil)
        // A multiplied duration is rounded.
        let longest = max(delay.bounded, .zero)
        #expect((longest - .seconds(1)...longest + .seconds(1)).contains(found))
        #expect((1...1 << 30).contains(delay.milliseconds))
    }

    @Test func `a server's delay counts when it is longer, up to a day`() {
        let policy = ReplicationRetryPolicy()
        let delay = { (wish: Duration) in policy.delay(after: 1, jitter: 0, retryAfter: wish) }
        #expect(delay(.seconds(700)) == .seconds(700))
        #expect(delay(.seconds(1 << 31)) == .seconds(86400))
        #expect(delay(.zero) == .milliseconds(500))
    }

    @Test(arguments: [
        (408, true), (429, true), (500, true), (502, true), (503, true), (504, true), (400, false), (401, false),
        (403, false), (404, false), (409, false), (412, false), (413, false), (501, false),
    ])
    func `each status is retried or not`(status: Int, isTriedAgain: Bool) {
        #expect(refusal(status).isTransient == isTriedAgain)
    }

    @Test(arguments: [
        (TransportErrorCode.cannotResolve, true), (.cannotConnect, true), (.timedOut, true), (.connectionLost, true),
        (.proxyFailed, true), (.badAnswer, true), (.badURL, false), (.certificateRejected, false), (.tlsFailed, false),
        (.bodyTooLarge, false), (.bodyFailed, false), (.cancelled, false), (.badRedirect, false), (.badRequest, false),
    ])
    func `each failure is retried or not`(code: TransportErrorCode, isTriedAgain: Bool) {
        #expect(TransportError(code, "").isTransient == isTriedAgain)
    }

    @Test(
        arguments: [
            ("120", nil, Duration.seconds(120)), ("0", nil, .zero), ("-1", nil, nil), ("soon", nil, nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT", .seconds(30)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 09:49:07 GMT", .zero),
            ("Sun, 06 Nov 1994 08:49:37 GMT", nil, .seconds(37)),
        ] as [(String, String?, Duration?)])
    func `Retry-After is read in seconds and as a date`(value: String, date: String?, wait: Duration?) {
        var headers: HTTPHeaders = ["retry-after": value]
        headers["Date"] = date
        #expect(RetryAfter.read(headers, now: 784_111_740) == wait)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Wed, 21-Oct-2015 07:28:00 GMT", 1_445_412_480),
        ] as [(String, Double)])
    func `dates are parsed in each of their formats`(text: String, seconds: Double) {
        #expect(HTTPDate.seconds(of: text) == seconds)
    }

    @Test(arguments: ["", "now", "06 Nov 1994", "Sun, 06 Nov 1994 25:00:00 GMT", "99 Nov 1994 08:49:37", "1:2:3"])
    func `a malformed date is ignored`(text: String) { #expect(HTTPDate.seconds(of: text) == nil) }
}
