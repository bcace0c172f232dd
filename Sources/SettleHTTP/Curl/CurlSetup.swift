#if canImport(CCurl)
package import CCurl

/// Sets options of a handle, and remembers the first one that curl rejects.
package struct CurlSetup {
    private let easy: UnsafeMutableRawPointer
    private var failure = CURLE_OK

    package init(_ easy: UnsafeMutableRawPointer) { self.easy = easy }

    /// Remembers a rejected option.
    package mutating func check(_ code: CURLcode) { if failure == CURLE_OK { failure = code } }

    /// Throws an error if an option was rejected.
    package func finish() throws(TransportError) {
        guard failure != CURLE_OK else { return }
        let reason = String(cString: curl_easy_strerror(failure))
        throw TransportError(.failed, "this libcurl can't do what the options ask for: \(reason)")
    }

    private mutating func set(_ option: CURLoption, _ value: Int) {
        check(settle_curl_set_long(easy, option, value))
    }

    private mutating func set(_ option: CURLoption, _ value: String) {
        check(settle_curl_set_string(easy, option, value))
    }

    /// Sets all options of a request and the client. Returns the header list, which curl needs until the end of the
    /// transfer.
    package mutating func apply(
        _ request: HTTPRequest, _ options: TransportOptions
    ) -> UnsafeMutablePointer<curl_slist>? {
        set(CURLOPT_URL, request.url.text)
        // Paths are sent unchanged: in a CouchDB path `..` can be the name of a document.
        set(CURLOPT_PATH_AS_IS, 1)
        check(settle_curl_allow_only_http(easy))
        // With multiplexing, a slow reader of one stream would block the other streams on the connection.
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_NOSIGNAL, 1)
        check(settle_curl_leave_lookups(easy))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_BUFFERSIZE, 64 * 1024)
        set(CURLOPT_CONNECTTIMEOUT_MS, request.connectTimeout.milliseconds)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_USERAGENT, options.userAgent)
        if request.acceptsCompression { set(CURLOPT_ACCEPT_ENCODING, "gzip") }
        if options.refusesPrivateAddresses { check(settle_curl_refuse_private(easy)) }
        apply(options.tls)
        apply(options.proxy)
        apply(method: request.method, request.body)
        return apply(request.headers)
    }

    private mutating func apply(method: String, _ body: HTTPBody) {
        if method == "HEAD" { return set(CURLOPT_NOBODY, 1) }
        let needsLength = ["POST", "PUT", "PATCH"].contains(method)
        if !body.isNone || needsLength {
            set(CURLOPT_UPLOAD, 1)
            check(settle_curl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.length ?? -1)))
        } else {
            set(CURLOPT_HTTPGET, 1)
        }
        set(CURLOPT_CUSTOMREQUEST, method)
    }

    private mutating func apply(_ headers: HTTPHeaders) -> UnsafeMutablePointer<curl_slist>? {
        // Waiting for `100 Continue` costs a second if the server never sends it.
        var list = curl_slist_append(nil, "Expect:")
        for field in headers.fields {
            list = curl_slist_append(list, field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        check(settle_curl_set_list(easy, CURLOPT_HTTPHEADER, list))
        return list
    }

    private mutating func apply(_ tls: TLSOptions) {
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if tls.allowsSelfSigned { set(CURLOPT_SSL_VERIFYPEER, 0) }
        if let roots = tls.roots {
            set(CURLOPT_CAINFO, roots)
            check(settle_curl_set_string(easy, CURLOPT_CAPATH, nil))
        }
        if !tls.pins.isEmpty { set(CURLOPT_PINNEDPUBLICKEY, tls.pins.joined(separator: ";")) }
        if let certificate = tls.clientCertificate {
            set(CURLOPT_SSLCERT, certificate.certificate)
            set(CURLOPT_SSLKEY, certificate.key)
            // Without a password, curl would prompt in the terminal.
            set(CURLOPT_KEYPASSWD, certificate.password ?? "")
        }
    }

    private mutating func apply(_ proxy: HTTPProxy) {
        switch proxy.kind {
        case .environment: break
        case .none: set(CURLOPT_PROXY, "")
        case .url(let url, let user, let password, let except):
            set(CURLOPT_PROXY, url)
            if let user { set(CURLOPT_PROXYUSERNAME, user) }
            if let password { set(CURLOPT_PROXYPASSWORD, password) }
            set(CURLOPT_NOPROXY, except.joined(separator: ","))
        }
    }
}
#endif
