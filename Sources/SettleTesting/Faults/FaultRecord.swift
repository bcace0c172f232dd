/// A request through a ``FaultProxy``, with its fault.
public struct FaultRecord: Sendable, Hashable, CustomStringConvertible {
    /// The number of earlier requests through the proxy.
    public let number: Int
    /// The connection it came on, counted from 0.
    public let connection: Int
    /// The request's method, or an empty string for bytes that are not a request and are forwarded unchanged.
    public let method: String
    /// The request's path with the query, no longer than 200 bytes.
    public let path: String
    /// The fault that the plan chose.
    public let fault: Fault
    /// Whether the fault took effect; `false` for ``Fault/none``.
    public internal(set) var isDone = false
    /// The status of the answer from the server or the proxy; `nil` while there is none.
    public internal(set) var status: Int?
    /// The number of request bytes that the server got, including both copies of a duplicated request.
    public internal(set) var requestBytes = 0
    /// The number of answer bytes that the client got.
    public internal(set) var answerBytes = 0
    /// Whether the request and its answer are complete; until then, the byte counts are 0.
    public internal(set) var isFinished = false

    /// The record as one line.
    public var description: String {
        let target = method.isEmpty ? "bytes that are no request" : "\(method) \(path)"
        let deed = isDone || fault == .none ? "\(fault)" : "\(fault) did not fit"
        let outcome = isFinished ? "\(requestBytes) bytes there, \(answerBytes) back" : "under way"
        return "#\(number) on \(connection): \(target) \(deed): \(status.map(String.init) ?? "no answer"), \(outcome)"
    }
}
