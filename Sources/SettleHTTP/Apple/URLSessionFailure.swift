#if canImport(Darwin) || SETTLE_APPLE
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Maps failures of `URLSession` to ``TransportError``.
package enum URLSessionFailure {
    /// The error of a failed transfer.
    package static func error(_ error: any Error, _ url: HTTPURL) -> TransportError {
        if let error = error as? TransportError { return error }
        let place = url.authority
        guard let failure = error as? URLError else {
            return TransportError(.failed, "the request to \(place) failed", cause: error)
        }
        let reason = failure.localizedDescription
        switch failure.code {
        case .cannotFindHost, .dnsLookupFailed:
            return TransportError(
                .cannotResolve, "no address is known for \(url.host): check the name, and the network")
        case .cannotConnectToHost, .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff:
            return TransportError(
                .cannotConnect, "nobody answers at \(place): check that the server runs, and the network")
        case .timedOut: return TransportError(.timedOut, "nothing moved between here and \(place) for too long")
        case .networkConnectionLost:
            return TransportError(.connectionLost, "the connection to \(place) ended before the answer did")
        case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData,
            .zeroByteResource:
            return TransportError(.badAnswer, "what \(place) answers is no HTTP: \(reason)")
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            return TransportError(.certificateRejected, "the certificate of \(place) is not trusted: \(reason)")
        case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired:
            return TransportError(.tlsFailed, "TLS with \(place) failed: \(reason)")
        case .badURL, .unsupportedURL:
            return TransportError(.badURL, "the address at \(place) is not accepted: \(reason)")
        case .cancelled: return TransportError(.cancelled, "the request to \(place) was cancelled")
        default: return TransportError(.failed, "the request to \(place) failed: \(reason)")
        }
    }
}
#endif
