/// A fault that a ``FaultProxy`` injects into one request and its answer.
///
///     client ──── request ───▶ proxy ──── request ───▶ server
///            ◀─── answer ────        ◀─── answer ────
///
/// A fault that does not apply, such as a cut after the last byte, leaves the request and its answer unchanged; the
/// record reports this in ``FaultRecord/isDone``.
public enum Fault: Hashable, Sendable {
    /// Every byte is forwarded unchanged.
    case none
    /// Both connections end after a number of bytes of one message were forwarded.
    ///
    /// If the request is cut, the server gets these bytes, and the client gets no answer. If the answer is cut, the
    /// client gets these bytes.
    case cut(Place, after: Int, by: Ending)
    /// The server processes the request, and its answer is delayed.
    case delay(Duration)
    /// The first bytes of the answer are forwarded one at a time, with a pause before each.
    case drip(first: Int, pause: Duration)
    /// The request does not reach the server; there is no answer, and after the duration the connection ends.
    case silence(Duration)
    /// The request does not reach the server; the proxy answers instead.
    ///
    /// `retryAfter` is the number of seconds for `Retry-After`; `nil` to leave the field out.
    case answer(status: Int, retryAfter: Int?, body: AnswerBody)
    /// The server seems to be down for a duration: connections are cut, and new ones refused at the same port.
    case refuse(Duration)
    /// The answer's `Content-Length` differs from the actual length by a number of bytes.
    ///
    /// If too few bytes follow, the connection ends. If too many follow, it stays open, and the next answer comes
    /// after the rest. Answers without the field, or without a body, are unchanged.
    case wrongLength(by: Int)
    /// The server gets the request twice in sequence, and the client gets the second answer.
    ///
    /// Requests longer than ``FaultProxy/longestHeld`` or with `Expect: 100-continue` are forwarded unchanged.
    case duplicate
    /// The server processes the request, and instead of its answer the client sees the connection end.
    case loseAnswer(by: Ending)
    /// One bit of a JSON answer is flipped: the lowest of the byte at a position, modulo the body's length.
    ///
    /// TCP detects such damage, so ``FaultPlan/random(seed:rate:weights:longestPause:statuses:)`` uses it only with
    /// an explicit weight. Answers that are not JSON are unchanged. If the length of an answer is unknown, only an
    /// existing byte is changed.
    case flipBit(at: Int)
    /// Request and answer are forwarded, and then the connection ends without notice.
    case closeAfter(by: Ending)

    /// The bytes that are counted before a cut.
    public enum Place: String, Hashable, Sendable, CaseIterable {
        /// The bytes of the request, from the beginning of its head.
        case request
        /// The bytes of the answer, from the beginning of its head.
        case answer
        /// The bytes of the answer's body: the head is complete, and a body with a known length never is.
        case body
    }

    /// The way in which a connection ends.
    public enum Ending: String, Hashable, Sendable, CaseIterable {
        /// An orderly close. The system turns it into a reset when the peer continues to send.
        case close
        /// A reset, as when a machine crashes; data that the peer has not read yet may be lost.
        case reset
    }

    /// The body of an answer from the proxy itself.
    public enum AnswerBody: String, Hashable, Sendable, CaseIterable {
        /// An error in CouchDB's format: `{"error":"…","reason":"…"}`.
        case couchDB
        /// An HTML page, as intermediate proxies send.
        case html
    }
}

extension Fault {
    /// The kind of a fault, for counting and weighting.
    public enum Kind: String, Hashable, Sendable, CaseIterable, Comparable {
        /// No fault.
        case none
        /// A request that is cut off.
        case cutRequest
        /// An answer that is cut off at any byte.
        case cutAnswer
        /// An answer whose head is complete and whose body is cut off.
        case cutBody
        /// A late answer.
        case delay
        /// An answer that arrives byte by byte.
        case drip
        /// No answer, and after a while the connection ends.
        case silence
        /// An answer from the proxy itself.
        case answer
        /// A server that is down for a while.
        case refuse
        /// A wrong `Content-Length`.
        case wrongLength
        /// A request that is delivered twice.
        case duplicate
        /// A request that was processed, but whose answer is lost.
        case loseAnswer
        /// JSON with a flipped bit.
        case flipBit
        /// A connection that ends between two requests.
        case closeAfter

        /// Orders kinds by name.
        public static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    /// The kind of the fault.
    public var kind: Kind {
        switch self {
        case .none: .none
        case .cut(.request, _, _): .cutRequest
        case .cut(.answer, _, _): .cutAnswer
        case .cut(.body, _, _): .cutBody
        case .delay: .delay
        case .drip: .drip
        case .silence: .silence
        case .answer: .answer
        case .refuse: .refuse
        case .wrongLength: .wrongLength
        case .duplicate: .duplicate
        case .loseAnswer: .loseAnswer
        case .flipBit: .flipBit
        case .closeAfter: .closeAfter
        }
    }
}

extension Fault: CustomStringConvertible {
    /// The fault as Swift code: `.cut(.answer, after: 20, by: .reset)`.
    public var description: String {
        switch self {
        case .none: ".none"
        case .cut(let place, let count, let ending): ".cut(.\(place), after: \(count), by: .\(ending))"
        case .delay(let time): ".delay(\(Self.spelled(time)))"
        case .drip(let count, let pause): ".drip(first: \(count), pause: \(Self.spelled(pause)))"
        case .silence(let time): ".silence(\(Self.spelled(time)))"
        case .answer(let status, let seconds, let body):
            ".answer(status: \(status), retryAfter: \(seconds.map(String.init) ?? "nil"), body: .\(body))"
        case .refuse(let time): ".refuse(\(Self.spelled(time)))"
        case .wrongLength(let count): ".wrongLength(by: \(count))"
        case .duplicate: ".duplicate"
        case .loseAnswer(let ending): ".loseAnswer(by: .\(ending))"
        case .flipBit(let position): ".flipBit(at: \(position))"
        case .closeAfter(let ending): ".closeAfter(by: .\(ending))"
        }
    }

    private static func spelled(_ time: Duration) -> String {
        let (seconds, fraction) = time.components
        return ".microseconds(\(seconds * 1_000_000 + fraction / 1_000_000_000_000))"
    }
}
