#if canImport(CCurl)
package import CCurl

/// Maps curl's failures to ``TransportError``.
package enum CurlFailure {
    /// The error of a failed transfer.
    static func error(_ code: CURLcode, _ exchange: CurlExchange) -> TransportError {
        let url = exchange.transfer.request.url
        if let failure = exchange.transfer.upload.failure {
            return TransportError(.bodyFailed, "the body for \(url.authority) could not be made", cause: failure)
        }
        return error(code, exchange.easy, url, words: exchange.explanation)
    }

    /// The error of a handle, with curl's explanation.
    package static func error(
        _ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ url: HTTPURL, words: String
    ) -> TransportError {
        let place = url.authority
        let reason = words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
        let proxyStatus = settle_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
        if proxyStatus >= 300 {
            let advice = proxyStatus == 407 ? ": check the user and the password of the proxy" : ""
            return TransportError(.proxyFailed, "the proxy answered \(proxyStatus) when asked for \(place)\(advice)")
        }
        let (kind, message) = meaning(code, reason, place: place, url: url)
        return TransportError(kind, message)
    }

    private static func meaning(
        _ code: CURLcode, _ reason: String, place: String, url: HTTPURL
    ) -> (TransportErrorCode, String) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return (.cannotResolve, "no address is known for \(url.host): check the name, and the network")
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return (.proxyFailed, "the proxy on the way to \(place) can't be used: \(reason)")
        case CURLE_COULDNT_CONNECT:
            if reason.contains("Failed to connect to"), !reason.contains("to \(url.host) port \(url.port)") {
                return (.proxyFailed, "the proxy on the way to \(place) can't be reached: \(reason)")
            }
            return (.cannotConnect, "nobody answers at \(place): check that the server runs, and the network")
        case CURLE_OPERATION_TIMEDOUT: return (.timedOut, "\(place) took too long to be connected to")
        case CURLE_GOT_NOTHING: return (.connectionLost, "\(place) closed the connection without an answer")
        case CURLE_PARTIAL_FILE: return (.connectionLost, "the connection to \(place) ended before the answer did")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND:
            if reason.contains("alert") {
                return (.tlsFailed, "\(place) ended TLS, as one does that wants another client certificate: \(reason)")
            }
            return (.connectionLost, "the connection to \(place) was lost: \(reason)")
        case CURLE_SSL_CONNECT_ERROR where reason.contains("SYSCALL") || reason.contains("reset"):
            return (.connectionLost, "the connection to \(place) was lost: \(reason)")
        case CURLE_PEER_FAILED_VERIFICATION:
            return (.certificateRejected, "the certificate of \(place) is not trusted: \(reason)")
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return (.certificateRejected, "\(place) has none of the pinned keys: somebody may be in between")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return (.tlsFailed, "TLS with \(place) failed: \(reason)")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            return (.badAnswer, "what \(place) answers is no HTTP, or more of a head than is allowed: \(reason)")
        case CURLE_URL_MALFORMAT: return (.badURL, "curl takes the address at \(place) for none")
        default: return (.failed, "the request to \(place) failed: \(reason)")
        }
    }
}
#endif
