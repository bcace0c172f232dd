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
