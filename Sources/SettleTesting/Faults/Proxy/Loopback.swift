internal import SettlePlatform

/// System calls for TCP on the loopback interface, where systems differ or calls are verbose.
enum Loopback {
    /// A new socket, bound to a port of 127.0.0.1; for 0 the system chooses the port.
    static func bound(to port: Int) throws(FaultProxyError) -> Int32 {
        let descriptor = try made()
        set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        set(descriptor, SOL_SOCKET, SO_REUSEPORT)
        let code = withAddress(port) { bind(descriptor, $0, $1) }
        guard code == 0 else {
            let error = FaultProxyError("bind")
            Sockets.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The port of a bound socket.
    static func port(of descriptor: Int32) throws(FaultProxyError) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { throw FaultProxyError("getsockname") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Connects to a port; `nil` when that fails within some seconds, or a signal is raised.
    static func connect(to port: Int, _ signal: ProxySignal) -> ProxySocket? {
        guard let descriptor = try? made() else { return nil }
        let socket = ProxySocket(descriptor)
        let code = withAddress(port) { Sockets.connect(descriptor, to: $0, $1) }
        if code == 0 { return socket }
        guard errno == EINPROGRESS || errno == EINTR else { return nil }
        var polled = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
        ]
        guard poll(&polled, 2, 10_000) > 0, polled[0].revents == 0 else { return nil }
        var problem: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &length)
        return problem == 0 ? socket : nil
    }

    /// Accepts the next connection of a listening socket; `nil` if there is none.
    static func accepted(by listener: Int32) -> Int32? {
        let descriptor = accept(listener, nil, nil)
        return descriptor < 0 ? nil : descriptor
    }

    /// Makes a socket non-blocking, not inherited by child processes, and without signals.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        set(descriptor, SOL_SOCKET, SO_NOSIGPIPE)
        #endif
    }

    /// Turns a socket option on.
    static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32) {
        var value: Int32 = 1
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func made() throws(FaultProxyError) -> Int32 {
        let descriptor = Sockets.make(AF_INET)
        guard descriptor >= 0 else { throw FaultProxyError("socket") }
        prepare(descriptor)
        return descriptor
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
