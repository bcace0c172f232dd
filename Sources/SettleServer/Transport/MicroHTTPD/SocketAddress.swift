#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// An address to listen on, as the system wants it.
struct SocketAddress {
    private let bytes: [UInt8]
    let isIPv6: Bool

    /// Looks an address up.
    ///
    /// - Throws: ``TransportError`` for what is no address and no known name.
    init(host: String, port: Int) throws {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let first = found?.pointee, let address = first.ai_addr else {
            throw TransportError(description: "can't listen on \(host): \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(found) }
        isIPv6 = first.ai_family == AF_INET6
        bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen)))
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { try body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self)) }
    }
}
