#if canImport(Darwin)
package import Foundation
package import Security

/// Checks the certificates of a server, and reads the client's certificate.
package struct URLSessionTrust {
    private let tls: TLSOptions
    private let place: String

    package init(_ tls: TLSOptions, _ url: HTTPURL) {
        self.tls = tls
        place = url.authority
    }

    /// Checks a server's certificates and its pin.
    ///
    /// - Parameter trust: The system's information about the server.
    /// - Returns: The credential that accepts it.
    /// - Throws: ``TransportError`` with code `certificateRejected`, or `tlsFailed` for roots that can't be read.
    package func check(_ trust: SecTrust?) throws(TransportError) -> URLCredential {
        guard let trust, let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let leaf = chain.first
        else {
            throw TransportError(.certificateRejected, "\(place) has no certificate")
        }
        if let roots = tls.roots {
            guard let pem = try? String(contentsOfFile: roots, encoding: .utf8) else {
                throw TransportError(.tlsFailed, "the certificates in \(roots) can't be read")
            }
            let anchors = PEMCertificates.read(pem).compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
            SecTrustSetAnchorCertificates(trust, anchors as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, true)
        }
        // This trusts the end of the chain; the name and the dates are still checked.
        if tls.allowsSelfSigned, let last = chain.last { SecTrustSetAnchorCertificates(trust, [last] as CFArray) }
        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else {
            let reason = error.map { CFErrorCopyDescription($0) as String? ?? "" } ?? ""
            throw TransportError(.certificateRejected, "the certificate of \(place) is not trusted: \(reason)")
        }
        let pin = TLSOptions.pin(ofDER: Array(SecCertificateCopyData(leaf) as Data))
        guard tls.pins.isEmpty || pin.map(tls.pins.contains) ?? false else {
            throw TransportError(
                .certificateRejected, "\(place) has none of the pinned keys: somebody may be in between")
        }
        return URLCredential(trust: trust)
    }

    /// The certificate and the key of the client, from one PKCS#12 file, because these systems don't read keys in
    /// PEM.
    package static func identity(_ certificate: TLSOptions.ClientCertificate) throws(TransportError) -> URLCredential {
        let file = certificate.certificate
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw TransportError(.tlsFailed, "the client certificate \(file) can't be read")
        }
        let options = [kSecImportExportPassphrase as String: certificate.password ?? ""] as CFDictionary
        var items: CFArray?
        guard SecPKCS12Import(bytes as CFData, options, &items) == errSecSuccess,
            let first = (items as? [[String: Any]])?.first, let found = first[kSecImportItemIdentity as String]
        else {
            throw TransportError(
                .tlsFailed, "the client certificate \(file) is no PKCS#12 file, or has another password")
        }
        let identity = found as AnyObject
        guard CFGetTypeID(identity) == SecIdentityGetTypeID() else {
            throw TransportError(.tlsFailed, "the client certificate \(file) has no key")
        }
        return URLCredential(
            identity: unsafeDowncast(identity, to: SecIdentity.self), certificates: nil, persistence: .forSession)
    }
}
#endif
