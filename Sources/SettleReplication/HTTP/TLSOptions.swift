/// Whom a client trusts, and whom it says to be.
///
/// TLS is of version 1.2 at least.
public struct TLSOptions: Sendable {
    /// A file of certificates in PEM to trust instead of the system's; `nil` for the system's.
    public var roots: String?
    /// Public keys of which the server has to have one, each as `sha256//` and the base64 of the SHA-256 of the key in DER;
    /// empty for any.
    ///
    /// Pins come on top of all other checks. For those of a certificate see ``pin(ofCertificate:)``.
    public var pins: [String] = []
    /// The certificate to show the server; none unless set.
    public var clientCertificate: ClientCertificate?
    /// Whether a certificate nobody vouches for is taken; no unless set. The host's name still has to be in it, and pins
    /// still count.
    ///
    /// - Warning: Without pins, whoever is on the way can then read and change everything.
    public var allowsSelfSigned = false

    /// Makes options with the defaults.
    public init() {}

    /// A certificate to show a server, in files.
    public struct ClientCertificate: Sendable, CustomStringConvertible, CustomReflectable {
        /// The file of the certificate in PEM, with those in between behind it.
        public var certificate: String
        /// The file of its private key in PEM.
        public var key: String
        /// What opens the key; `nil` when it is open.
        public var password: String?

        /// Names the files.
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
