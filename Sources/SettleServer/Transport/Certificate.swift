/// What a server shows who it is with, over TLS.
public struct Certificate: Sendable {
    /// The certificate, and those that vouch for it, in PEM.
    public var chain: String
    /// The private key in PEM.
    public var key: String

    /// Makes a certificate of PEM texts.
    public init(chain: String, key: String) {
        self.chain = chain
        self.key = key
    }
}
