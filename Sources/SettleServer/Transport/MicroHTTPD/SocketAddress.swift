internal import CMicroHTTPD
internal import SettlePlatform

/// An address to listen on, as the system wants it.
struct SocketAddress {
    private let bytes: [UInt8]
    let isIPv6: Bool

    /// Looks an address up.
    ///
    /// - Throws: ``TransportError`` for an invalid address and an unknown name.
    init(host: String, port: Int) throws {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_socktype = Sockets.stream
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

    /// An address in digits, without its port; nothing for none.
    static func name(_ address: UnsafePointer<sockaddr>?) -> String {
        guard let address else { return "" }
        let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
        let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
