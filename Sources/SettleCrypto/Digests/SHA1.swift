/// The SHA-1 of bytes at hand, for the names of indexes and OAuth 1: CouchDB's choice, not a protection.
package enum SHA1 {
    /// The 20 bytes of the digest.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var state = RunningDigest<SystemSHA1>()
        bytes.withUnsafeBytes { state.update($0) }
        return state.finish()
    }
}
