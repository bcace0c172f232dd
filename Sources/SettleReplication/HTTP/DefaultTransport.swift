#if canImport(CCurl)
/// The HTTP client of this system: ``CurlTransport`` on Linux, `URLSessionTransport` on Apple's systems.
public typealias DefaultTransport = CurlTransport
#else
/// The HTTP client of this system: ``URLSessionTransport``.
public typealias DefaultTransport = URLSessionTransport
#endif
