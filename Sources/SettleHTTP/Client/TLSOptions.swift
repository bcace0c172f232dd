internal import SettleCrypto
internal import SettleDatabase
internal import SettlePlatform

/// The certificates that a client trusts, and the one that it presents.
///
/// The TLS version is at least 1.2.
public struct TLSOptions: Sendable {
    /// A PEM file of certificates to trust instead of the system's; `nil` for the system's.
    public var roots: String?
    /// The accepted public keys of the server, each as `sha256//` and the base64 of the SHA-256 of the key in DER;
    /// empty to accept any.
    ///
    /// Pins are checked in addition to everything else. ``pin(ofCertificate:)`` computes the pin of a certificate.
    public var pins: [String] = []
    /// The client certificate to present; `nil` by default.
    public var clientCertificate: ClientCertificate?
    /// Whether to accept a self-signed certificate; `false` by default. The host name and pins are still checked.
    ///
    /// - Warning: Without pins, an attacker between client and server can then read and change everything.
    public var allowsSelfSigned = false

    /// Creates options with the defaults.
    public init() {}

    /// A client certificate, in files.
    public struct ClientCertificate: Sendable, CustomStringConvertible, CustomReflectable {
        /// The PEM file of the certificate, followed by intermediate certificates.
        public var certificate: String
        /// The PEM file of its private key.
        public var key: String
        /// The password of the key; `nil` if the key is not encrypted.
        public var password: String?

        /// Creates a certificate from its files.
        public init(certificate: String, key: String, password: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.password = password
        }

        /// The names of the files.
        public var description: String { "certificate \(certificate), key \(key)" }

        /// The names of the files.
        public var customMirror: Mirror {
            Mirror(self, children: ["certificate": certificate, "key": key], displayStyle: .struct)
        }
    }
}

extension TLSOptions {
    /// The pin of a certificate's public key.
    ///
    /// - Parameter pem: The certificate as PEM text; if there are several, the first one is used.
    /// - Returns: The pin.
    /// - Throws: ``TransportError`` with code `tlsFailed` for text that is not a certificate.
    public static func pin(ofCertificate pem: String) throws(TransportError) -> String {
        guard let certificate = PEMCertificates.read(pem).first, let pin = pin(ofDER: certificate) else {
            throw TransportError(
                .tlsFailed, "this is not a PEM certificate, which begins with -----BEGIN CERTIFICATE-----")
        }
        return pin
    }

    /// The pin of a certificate in DER; `nil` for bytes that are not a certificate.
    static func pin(ofDER certificate: [UInt8]) -> String? {
        CertificateKey.find(in: certificate).map { "sha256//" + Base64.encode(SHA256.hash($0)) }
    }
}

// MARK: - PEMCertificates

/// Reads certificates in PEM, the text form of RFC 7468.
package enum PEMCertificates {
    private static let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")

    /// The expiry of the first certificate in a text, in seconds since 1970; `nil` if that can't be read.
    package static func end(of text: String) -> Double? {
        read(text).first.flatMap(CertificateKey.end).flatMap { ISODate.seconds(of: $0) }
    }

    /// The certificates in a text, in DER and in order. Other content is skipped.
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
