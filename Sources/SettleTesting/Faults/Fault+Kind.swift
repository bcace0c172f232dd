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
        /// A request that was acted on, and whose answer is lost.
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
