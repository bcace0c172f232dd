/// What a ``FaultProxy`` did to one request.
public struct FaultRecord: Sendable, Hashable, CustomStringConvertible {
    /// How many requests came through the proxy before.
    public let number: Int
    /// The connection it came on, counted from 0.
    public let connection: Int
    /// The request's method, or an empty text for bytes that are no request: they pass as they are.
    public let method: String
    /// The request's path with the query, no longer than 200 bytes.
    public let path: String
    /// What the plan wanted.
    public let fault: Fault
    /// Whether that was done; for ``Fault/none`` false.
    public internal(set) var isDone = false
    /// The status of the answer that came of the server or the proxy; `nil` while there is none.
    public internal(set) var status: Int?
    /// How many bytes of the request the server got, both times of a request that it got twice.
    public internal(set) var requestBytes = 0
    /// How many bytes of an answer the client got.
    public internal(set) var answerBytes = 0
    /// Whether the proxy has done with the request and its answer; before, the numbers of bytes are 0.
    public internal(set) var isFinished = false

    /// One line.
    public var description: String {
        let target = method.isEmpty ? "bytes that are no request" : "\(method) \(path)"
        let deed = isDone || fault == .none ? "\(fault)" : "\(fault) did not fit"
        let outcome = isFinished ? "\(requestBytes) bytes there, \(answerBytes) back" : "under way"
        return "#\(number) on \(connection): \(target) \(deed): \(status.map(String.init) ?? "no answer"), \(outcome)"
    }
}
