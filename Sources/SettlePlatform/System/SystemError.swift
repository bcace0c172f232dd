/// A call of the system that failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call, as `pthread_create`.
    package let call: String
    /// Its error number, as `EAGAIN`.
    package let code: Int32

    /// Makes the error; the number is that of the last call unless given.
    package init(_ call: String, _ code: Int32 = errno) { (self.call, self.code) = (call, code) }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
