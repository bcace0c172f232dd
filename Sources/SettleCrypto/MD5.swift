/// MD5 of bytes given piece by piece, for revision ids and attachment digests: CouchDB's choice, not a protection.
///
/// One object serves any number of digests, one after the other.
package final class MD5 {
    private var state = RunningDigest<SystemMD5>()

    package init() {}

    package func update(_ bytes: UnsafeRawBufferPointer) { state.update(bytes) }

    package func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes(update) }

    /// The digest of all bytes since the last one, as two big-endian words. The next update starts a new digest.
    package func finishWords() -> (high: UInt64, low: UInt64) {
        defer { state = RunningDigest() }
        return Self.words(&state)
    }

    /// The digest of three parts, one after the other, as two big-endian words. It allocates nothing.
    package static func words(
        of first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> (high: UInt64, low: UInt64) {
        var state = RunningDigest<SystemMD5>()
        state.update(first)
        state.update(second)
        state.update(third)
        return words(&state)
    }

    private static func words(_ state: inout RunningDigest<SystemMD5>) -> (high: UInt64, low: UInt64) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { buffer in
            if let first = buffer.bindMemory(to: UInt8.self).baseAddress { state.finish(into: first) }
        }
        return (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
    }

    /// The 16 bytes of the digest of all bytes since the last one. The next update starts a new digest.
    package func finish() -> [UInt8] {
        let words = finishWords()
        return withUnsafeBytes(of: (words.high.bigEndian, words.low.bigEndian)) { Array($0) }
    }
}
