/// A SHA-256 of bytes given piece by piece.
package final class SHA256 {
    private var state = RunningDigest<SystemSHA256>()

    package init() {}

    package func update(_ bytes: UnsafeRawBufferPointer) { state.update(bytes) }

    /// The digest of all that was given; the object is used up.
    package func finish() -> [UInt8] { state.finish() }

    /// The digest of bytes at hand.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var state = RunningDigest<SystemSHA256>()
        bytes.withUnsafeBytes { state.update($0) }
        return state.finish()
    }
}
