import Foundation

/// The server that is measured: where it is, and how requests to it look.
struct Server: Sendable {
    /// Why an address can't be used.
    struct BadAddress: Error {}

    private let address: sockaddr_in
    private let host: String
    private let login: String

    /// - Throws: ``BadAddress`` unless it is `http://HOST:PORT` of a host with an IPv4 address.
    init(url: String, user: String, password: String) throws {
        guard let place = URLComponents(string: url), let name = place.host, place.scheme == "http" else {
            throw BadAddress()
        }
        var hints = addrinfo()
        hints.ai_family = AF_INET
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, "\(place.port ?? 5984)", &hints, &found) == 0, let found else { throw BadAddress() }
        defer { freeaddrinfo(found) }
        address = UnsafeRawPointer(found.pointee.ai_addr).load(as: sockaddr_in.self)
        host = "\(name):\(place.port ?? 5984)"
        login = Data("\(place.user ?? user):\(place.password ?? password)".utf8).base64EncodedString()
    }

    /// A socket that is connected, or will be; below zero when there can't be one.
    func connect() -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = socket(AF_INET, kind, 0)
        guard socket >= 0 else { return -1 }
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let result = withUnsafeBytes(of: address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                Glibc.connect(socket, $0.baseAddress, socklen_t(bytes.count))
            }
        }
        if result == 0 || errno == EINPROGRESS { return socket }
        close(socket)
        return -1
    }

    /// The bytes of a request.
    func request(_ method: String, _ path: String, _ body: String = "") -> [UInt8] {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Basic \(login)\r\n"
        text += "Accept: application/json\r\n"
        if method != "GET" {
            text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        }
        return Array((text + "\r\n" + body).utf8)
    }
}
