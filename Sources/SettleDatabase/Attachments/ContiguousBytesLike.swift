/// Bytes that lie side by side in memory, however the caller keeps them.
public protocol ContiguousBytesLike {
    /// Lends the bytes to a closure.
    func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
}

extension [UInt8]: ContiguousBytesLike {
    /// Lends the array's bytes to a closure.
    public func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(body)
    }
}

extension UnsafeRawBufferPointer: ContiguousBytesLike {
    /// Lends itself to a closure.
    public func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(self)
    }
}
