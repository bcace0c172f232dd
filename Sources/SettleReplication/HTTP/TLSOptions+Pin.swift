internal import CCrypto
internal import SettleDatabase
internal import SettlePlatform

extension TLSOptions {
    /// The pin of a certificate's public key.
    ///
    /// - Parameter pem: The certificate as PEM text; if there are several, the first one is used.
    /// - Returns: The pin.
    /// - Throws: ``HTTPClientError`` with code `tlsFailed` for text that is not a certificate.
    public static func pin(ofCertificate pem: String) throws(HTTPClientError) -> String {
        guard let key = publicKey(ofCertificate: Array(pem.utf8)) else {
            throw HTTPClientError(
                .tlsFailed, "this is no certificate in PEM: it begins with -----BEGIN CERTIFICATE-----")
        }
        return "sha256//" + Base64.encode(HashFunction.sha256.hash(key))
    }

    /// The key with its algorithm, in DER.
    private static func publicKey(ofCertificate pem: [UInt8]) -> [UInt8]? {
        guard let source = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
        defer { BIO_free(source) }
        guard let certificate = PEM_read_bio_X509(source, nil, nil, nil) else { return nil }
        defer { X509_free(certificate) }
        guard let key = X509_get_X509_PUBKEY(certificate) else { return nil }
        let count = i2d_X509_PUBKEY(key, nil)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
            var end = buffer.baseAddress
            written = i2d_X509_PUBKEY(key, &end) == count ? Int(count) : 0
        }
    }
}
