/// Finds the public key in a certificate of X.509, whose other fields are not looked at.
///
///     Certificate { TBSCertificate { [version], serial, signature, issuer, validity, subject, key, … }, … }
package enum CertificateKey {
    private static let sequence: UInt8 = 0x30
    private static let integer: UInt8 = 0x02
    private static let version: UInt8 = 0xa0

    /// Finds the key.
    ///
    /// - Parameter certificate: The certificate in DER.
    /// - Returns: The `SubjectPublicKeyInfo` in DER, which is the key with its algorithm; `nil` for other input.
    package static func find(in certificate: [UInt8]) -> [UInt8]? {
        var outer = DERReader(certificate[...])
        guard let whole = outer.read(sequence) else { return nil }
        var inner = DERReader(whole.content)
        guard let signed = inner.read(sequence) else { return nil }
        var fields = DERReader(signed.content)
        if fields.nextTag == version { guard fields.read(version) != nil else { return nil } }
        // The serial number; then the algorithm of the signature, issuer, validity and subject.
        for tag in [integer, sequence, sequence, sequence, sequence] {
            guard fields.read(tag) != nil else { return nil }
        }
        return fields.read(sequence).map { Array($0.whole) }
    }
}

/// Reads values in DER, one after the other.
private struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The tag of the next value.
    var nextTag: UInt8? { rest.first }

    /// Reads a value with a tag: the value alone, and with its tag and length. Returns `nil` for another tag or a bad length.
    mutating func read(_ tag: UInt8) -> (content: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)? {
        guard rest.first == tag, let first = rest.dropFirst().first else { return nil }
        var start = rest.startIndex + 2
        var length = Int(first)
        if first >= 0x80 {
            // The lower bits are the number of bytes of the length. Zero would mean an end that has to be searched.
            let digits = rest[start...].prefix(Int(first & 0x7f))
            guard 1...4 ~= first & 0x7f, digits.count == Int(first & 0x7f), digits.first != 0 else { return nil }
            length = digits.reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80 else { return nil }
            start += digits.count
        }
        guard length <= rest.endIndex - start else { return nil }
        let value = (content: rest[start..<start + length], whole: rest[..<(start + length)])
        rest = rest[(start + length)...]
        return value
    }
}
