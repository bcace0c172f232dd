internal import SettleCrypto
internal import SettleDatabase
internal import SettlePlatform

/// Reads certificates in PEM, the text form of RFC 7468.
package enum PEMCertificates {
    private static let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")

    /// When the first certificate in a text expires, in seconds since 1970; `nil` if that can't be read.
    package static func end(of text: String) -> Double? {
        read(text).first.flatMap(CertificateKey.end).flatMap { ISODate.seconds(of: $0) }
    }

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
