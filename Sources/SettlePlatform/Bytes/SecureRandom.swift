/// Random bytes and ids from the system's generator, which is suitable for secrets.
package enum SecureRandom {
    /// Creates an id of hexadecimal digits.
    ///
    /// - Parameter bytes: The number of random bytes; 16 by default, as in CouchDB's ids.
    /// - Returns: Twice as many digits as bytes, in lower case.
    package static func hexadecimal(bytes: Int = 16) -> String { Hexadecimal.encode(self.bytes(bytes)) }

    /// Creates random bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let words = (0..<(count + 7) / 8).map { _ in generator.next() }
        return words.withUnsafeBytes { Array($0.prefix(count)) }
    }
}
