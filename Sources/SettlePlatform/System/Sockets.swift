/// Stream sockets, where the systems' headers differ.
package enum Sockets {
    /// Creates a TCP socket of an address family, such as `AF_INET`, that no other program inherits; returns a negative
    /// number with `errno` if the system refuses.
    package static func make(_ family: Int32) -> Int32 {
        #if canImport(Glibc)
        // In one step, because another thread may start a program at any moment.
        systemSocket(family, stream | Int32(SOCK_CLOEXEC.rawValue))
        #else
        keptFromPrograms(systemSocket(family, stream))
        #endif
    }

    /// Accepts the next connection of a listening socket, which no other program inherits; returns a negative number
    /// with `errno` if there is none.
    package static func accept(_ listener: Int32) -> Int32 {
        keptFromPrograms(systemAccept(listener))
    }

    /// The socket type of byte streams, as `addrinfo` and `socket` expect it.
    package static var stream: Int32 {
        #if canImport(Glibc)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }

    /// Creates two connected sockets that no other program inherits; `nil` if the system refuses.
    package static func pair() -> (Int32, Int32)? {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
        let kind = stream | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        #else
        guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else { return nil }
        for end in ends { _ = keptFromPrograms(end) }
        #endif
        return (ends[0], ends[1])
    }

    private static func keptFromPrograms(_ descriptor: Int32) -> Int32 {
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
    }

    /// The indices of the sockets whose other end was closed, or will send nothing more.
    ///
    /// This is one system call that does not wait. It works even if received bytes were not read yet.
    package static func closedByPeer(_ sockets: [Int32]) -> [Int] {
        #if canImport(Glibc)
        let (asked, told) = (Int16(0x2000), Int16(0x2000))  // POLLRDHUP, which needs a feature macro
        #else
        let (asked, told) = (Int16(POLLIN), Int16(POLLHUP))
        #endif
        var polled = sockets.map { pollfd(fd: $0, events: asked, revents: 0) }
        guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return [] }
        return polled.indices.filter { polled[$0].revents & (told | Int16(POLLHUP) | Int16(POLLERR)) != 0 }
    }

    /// Connects a socket; returns a negative number with `errno` if it is not connected yet.
    package static func connect(
        _ descriptor: Int32, to address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) -> Int32 {
        systemConnect(descriptor, address, length)
    }

    /// Sends as much as possible at once, without a signal if the other end is closed; returns a negative number
    /// with `errno` if nothing can be sent.
    package static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        systemSend(descriptor, bytes)
    }

    /// Sends small messages at once, even if the other end has not acknowledged the previous ones.
    package static func sendAtOnce(_ descriptor: Int32) {
        var on: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Acknowledges received bytes at once, and not after 40 ms. Sync Gateway waits for the acknowledgement before
    /// it sends more. The system resets the option with the next bytes, so the caller sets it after each read. It
    /// has an effect only on Linux.
    package static func acknowledgeAtOnce(_ descriptor: Int32) {
        #if os(Linux)
        var on: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Closes a descriptor.
    package static func close(_ descriptor: Int32) { systemClose(descriptor) }
}

// Outside of the type, whose functions have the same names.
private func systemSocket(_ family: Int32, _ kind: Int32) -> Int32 { socket(family, kind, 0) }

private func systemAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }

private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
}

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
