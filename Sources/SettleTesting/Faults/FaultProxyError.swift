internal import SettlePlatform

/// A failed system call of a ``FaultProxy``.
public struct FaultProxyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call that failed, such as `bind`.
    public let call: String
    /// The error number, `errno`.
    public let number: Int32

    /// Makes the error of a call that has just failed.
    init(_ call: String, _ number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    /// The call and the system's error message.
    public var description: String { "\(call): \(String(cString: strerror(number)))" }
}
