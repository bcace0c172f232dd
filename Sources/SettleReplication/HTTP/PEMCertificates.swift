internal import SettleDatabase

/// Reads certificates in PEM, the text form of RFC 7468.
enum PEMCertificates {
    private static let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")

    /// The certificates in a text, in DER and in order. What is not a certificate is skipped.
    static func read(_ text: String) -> [[UInt8]] {
        var certificates: [[UInt8]] = []
        var rest = text[...]
        while let first = rest.firstRange(of: begin) {
            rest = rest[first.upperBound...]
            guard let last = rest.firstRange(of: end) else { break }
            let digits = rest[..<last.lowerBound].utf8.filter { $0 > 0x20 }
            if let certificate = Base64.decode(digits) { certificates.append(certificate) }
            rest = rest[last.upperBound...]
        }
        return certificates
    }
}
