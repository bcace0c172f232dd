internal import SettlePlatform

/// What the system refused a ``FaultProxy``.
public struct FaultProxyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call that failed, as `bind`.
    public let call: String
    /// The system's number for the reason, `errno`.
    public let number: Int32

    /// The failure of a call that has just been made.
    init(_ call: String, _ number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    /// The call and the system's words.
    public var description: String { "\(call): \(String(cString: strerror(number)))" }
}
