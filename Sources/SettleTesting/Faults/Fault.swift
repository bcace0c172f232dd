/// What a ``FaultProxy`` does to one request and its answer.
///
///     client ──── request ───▶ proxy ──── request ───▶ server
///            ◀─── answer ────        ◀─── answer ────
///
/// A fault that does not fit, as a cut behind the last byte, leaves the request and its answer as they are; the record
/// says so in ``FaultRecord/isDone``.
public enum Fault: Hashable, Sendable {
    /// Every byte passes as it is.
    case none
    /// Both connections end after so many bytes of one of the messages, on their way out of the proxy.
    ///
    /// Of a request, the server gets the bytes and the client no answer. Of an answer, the client gets them.
    case cut(Place, after: Int, by: Ending)
    /// The server acts on the request, and its answer comes so much later.
    case delay(Duration)
    /// The first so many bytes of the answer come one at a time, with a pause before each.
    case drip(first: Int, pause: Duration)
    /// The request does not reach the server; no answer comes, and after so long the connection ends.
    case silence(Duration)
    /// The request does not reach the server; the proxy answers in its place.
    ///
    /// With a number of seconds for `Retry-After`, or without that field.
    case answer(status: Int, retryAfter: Int?, body: AnswerBody)
    /// The server seems to be down for so long: connections are cut, and new ones refused at the same port.
    case refuse(Duration)
    /// The answer's `Content-Length` tells so many bytes more, or less, than come.
    ///
    /// After too few bytes the connection ends. Where too many come, it stays, and the next answer follows the rest. Answers
    /// without the field, or without a body, are left as they are.
    case wrongLength(by: Int)
    /// The server gets the request twice, one after the other, and the client the second answer.
    ///
    /// Requests longer than ``FaultProxy/longestHeld`` or with `Expect: 100-continue` pass as they are.
    case duplicate
    /// The server acts on the request, and instead of its answer the client sees the connection end.
    case loseAnswer(by: Ending)
    /// One bit of an answer's JSON is another: the lowest of the byte at a position, counted round the body.
    ///
    /// TCP protects from that, so ``FaultPlan/random(seed:rate:weights:longestPause:statuses:)`` does it only where a
    /// weight is given. Answers that are no JSON are left as they are. Of an answer whose length is not told, only a byte
    /// that exists is changed.
    case flipBit(at: Int)
    /// Request and answer pass, and then the connection ends, though nothing announced that.
    case closeAfter(by: Ending)

    /// Which bytes are counted before a cut.
    public enum Place: String, Hashable, Sendable, CaseIterable {
        /// Those of the request, from the first of its head.
        case request
        /// Those of the answer, from the first of its head.
        case answer
        /// Those of the answer's body: the head comes whole, and of a body whose length is told never all.
        case body
    }

    /// How a connection ends.
    public enum Ending: String, Hashable, Sendable, CaseIterable {
        /// As one that is closed in order. The system makes a reset of it when the peer sends on.
        case close
        /// By a reset, as when a machine crashes; what the peer has not read yet may be lost with it.
        case reset
    }

    /// The body of an answer of the proxy's own.
    public enum AnswerBody: String, Hashable, Sendable, CaseIterable {
        /// An error as CouchDB words it: `{"error":"…","reason":"…"}`.
        case couchDB
        /// A page for people, as proxies on the way send.
        case html
    }
}
