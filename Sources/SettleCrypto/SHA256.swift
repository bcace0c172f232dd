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

// MARK: - SHA1

/// A SHA-1 of bytes given piece by piece, for names of indexes, OAuth 1 and digests in other products' files: not a protection.
package final class SHA1 {
    private var state = RunningDigest<SystemSHA1>()

    package init() {}

    package func update(_ bytes: UnsafeRawBufferPointer) { state.update(bytes) }

    /// The 20 bytes of the digest of all that was given; the object is used up.
    package func finish() -> [UInt8] { state.finish() }

    /// The 20 bytes of the digest of bytes at hand.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var state = RunningDigest<SystemSHA1>()
        bytes.withUnsafeBytes { state.update($0) }
        return state.finish()
    }
}

// MARK: - HMAC

/// The codes of RFC 2104, which prove that a message comes from an owner of the key.
package enum HMAC {
    /// The code with SHA-1: 20 bytes.
    package static func sha1(_ message: [UInt8], key: [UInt8]) -> [UInt8] { code(SystemSHA1.self, message, key) }

    /// The code with SHA-256: 32 bytes.
    package static func sha256(_ message: [UInt8], key: [UInt8]) -> [UInt8] { code(SystemSHA256.self, message, key) }

    /// The code with a hash function whose blocks have 64 bytes.
    package static func code<State: DigestState>(_: State.Type, _ message: [UInt8], _ key: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? digest(State.self, key, []) : key
        let padded = short + Array(repeating: 0, count: 64 - short.count)
        let inner = digest(State.self, padded.map { $0 ^ 0x36 }, message)
        return digest(State.self, padded.map { $0 ^ 0x5c }, inner)
    }

    private static func digest<State: DigestState>(_: State.Type, _ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
        var state = RunningDigest<State>()
        first.withUnsafeBytes { state.update($0) }
        second.withUnsafeBytes { state.update($0) }
        return state.finish()
    }
}
