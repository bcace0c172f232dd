#if canImport(Darwin)
internal import Foundation
internal import SettleHTTP

/// Checks the certificate of a WebSocket's server, and presents the client's certificate.
final class StreamTaskTrust: NSObject, URLSessionTaskDelegate, Sendable {
    private let trust: URLSessionTrust
    private let certificate: TLSOptions.ClientCertificate?

    init(_ trust: URLSessionTrust, _ certificate: TLSOptions.ClientCertificate?) {
        (self.trust, self.certificate) = (trust, certificate)
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let credential: URLCredential? =
            switch challenge.protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust: try? trust.check(challenge.protectionSpace.serverTrust)
            case NSURLAuthenticationMethodClientCertificate: certificate.flatMap { try? URLSessionTrust.identity($0) }
            default: nil
            }
        completionHandler(credential == nil ? .cancelAuthenticationChallenge : .useCredential, credential)
    }
}
#endif
