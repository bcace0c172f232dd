#if canImport(Darwin)
internal import Foundation

/// Makes decisions for one task of `URLSession`: redirects are not followed here, certificates are checked, and
/// bodies can be restarted.
final class URLSessionRules: NSObject, URLSessionTaskDelegate, Sendable {
    private let tls: TLSOptions
    private let request: HTTPRequest
    private let end: URLSessionEnd

    init(_ tls: TLSOptions, _ request: HTTPRequest, _ end: URLSessionEnd) {
        self.tls = tls
        self.request = request
        self.end = end
    }

    /// Starts the body from its beginning, as a stream that its producer fills at the speed of the connection.
    func openBody() -> InputStream? {
        guard case .pieces(let length, let open) = request.body.content else { return nil }
        var (input, output): (InputStream?, OutputStream?) = (nil, nil)
        Stream.getBoundStreams(withBufferSize: 256 * 1024, inputStream: &input, outputStream: &output)
        guard let output else { return nil }
        URLSessionUpload(output, length: length, open(), request.url, end).start()
        return input
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest _: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(openBody())
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        do throws(TransportError) {
            let credential: URLCredential?
            switch challenge.protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                credential = try URLSessionTrust(tls, request.url).check(challenge.protectionSpace.serverTrust)
            case NSURLAuthenticationMethodClientCertificate:
                credential = try tls.clientCertificate.map(URLSessionTrust.identity)
            default: credential = nil
            }
            // A 401 without credentials is an ordinary response.
            completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
        } catch {
            end.end(error)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}
#endif
