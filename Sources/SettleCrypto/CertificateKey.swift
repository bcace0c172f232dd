/// Finds the public key in an X.509 certificate. Other fields are not checked.
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
        // The serial number, then the algorithm of the signature, the issuer, the validity and the subject.
        var fields = fields(of: certificate, after: [integer, sequence, sequence, sequence, sequence])
        return fields?.read(sequence).map { Array($0.whole) }
    }

    /// Finds the end of a certificate's validity.
    ///
    /// - Parameter certificate: The certificate in DER.
    /// - Returns: The time in ISO 8601, like `2027-03-01T12:00:00Z`; `nil` for other input.
    package static func end(of certificate: [UInt8]) -> String? {
        var fields = fields(of: certificate, after: [integer, sequence, sequence])
        guard let validity = fields?.read(sequence) else { return nil }
        var times = DERReader(validity.content)
        guard times.readTime() != nil, let end = times.readTime(), end.count == 15, end.last == "Z" else { return nil }
        let digits = Array(end)
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z"
    }

    /// The fields of a certificate after those with the given tags.
    private static func fields(of certificate: [UInt8], after tags: [UInt8]) -> DERReader? {
        var outer = DERReader(certificate[...])
        guard let whole = outer.read(sequence) else { return nil }
        var inner = DERReader(whole.content)
        guard let signed = inner.read(sequence) else { return nil }
        var fields = DERReader(signed.content)
        if fields.nextTag == version { guard fields.read(version) != nil else { return nil } }
        for tag in tags { guard fields.read(tag) != nil else { return nil } }
        return fields
    }
}

/// Reads values in DER, one after the other.
private struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Reads a time: its digits, with a year of four digits, and its zone.
    mutating func readTime() -> String? {
        if let long = read(0x18) { return String(decoding: long.content, as: UTF8.self) }
        guard let short = read(0x17) else { return nil }
        let text = String(decoding: short.content, as: UTF8.self)
        // RFC 5280: two digits below 50 mean a year from 2000 on.
        return (text < "50" ? "20" : "19") + text
    }

    /// The tag of the next value.
    var nextTag: UInt8? { rest.first }

    /// Reads a value with a tag: its content, and the whole with tag and length. Returns `nil` for another tag or
    /// an invalid length.
    mutating func read(_ tag: UInt8) -> (content: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)? {
        guard rest.first == tag, let first = rest.dropFirst().first else { return nil }
        var start = rest.startIndex + 2
        var length = Int(first)
        if first >= 0x80 {
            // The lower bits are the number of length bytes. Zero would mean an indefinite length.
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
