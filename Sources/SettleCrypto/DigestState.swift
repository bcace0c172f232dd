/// The state of a digest while bytes arrive; each implementation of a hash function has its own.
package protocol DigestState {
    /// The number of bytes of a digest.
    static var length: Int { get }

    init()

    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// Writes the digest. The state must not be used afterwards.
    mutating func finish(into digest: UnsafeMutablePointer<UInt8>)
}

/// A digest of bytes given piece by piece, by any implementation.
///
/// Apple's MD5 functions are deprecated, and so are the methods that call them. A call through this type gives no warning,
/// because the protocol is not deprecated.
package struct RunningDigest<State: DigestState> {
    private var state = State()

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { state.update(bytes) }

    /// Writes the digest. The value must not be used afterwards.
    package mutating func finish(into digest: UnsafeMutablePointer<UInt8>) { state.finish(into: digest) }

    /// Returns the digest. The value must not be used afterwards.
    package mutating func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: State.length)
        digest.withUnsafeMutableBufferPointer { if let first = $0.baseAddress { state.finish(into: first) } }
        return digest
    }
}
