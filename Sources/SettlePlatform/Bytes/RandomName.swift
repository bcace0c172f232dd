/// Names and keys by chance, from the system's own generator, which is good for secrets.
package enum RandomName {
    /// A name of hexadecimal digits.
    ///
    /// - Parameter bytes: How many bytes of chance it has; the name has twice as many digits.
    package static func hexadecimal(bytes: Int = 16) -> String { Hexadecimal.encode(self.bytes(bytes)) }

    /// Random bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let words = (0..<(count + 7) / 8).map { _ in generator.next() }
        return words.withUnsafeBytes { Array($0.prefix(count)) }
    }
}
