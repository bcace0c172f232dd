#if os(Linux)
internal import SettlePlatform

/// The Linux kernel's notifications of links, addresses and routes: an `rtnetlink` socket (`man 7 rtnetlink`).
final class RouteSocket: Sendable {
    /// Links, IPv4 and IPv6 addresses, IPv4 and IPv6 routes.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100 | 0x40 | 0x400
    private static let newRoute: UInt16 = 24
    private static let oldRoute: UInt16 = 25
    private static let headerLength = 16

    private let descriptor: Int32

    /// Opens a socket; `nil` if the system refuses it.
    init?() {
        let descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        // struct sockaddr_nl: family, padding, port, groups.
        var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, Self.groups)
        let code = withUnsafeBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return Int32(-1) }
            return bind(descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard code == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Waits for messages.
    ///
    /// - Returns: Whether a message was about the default route, so that connections may have changed although no
    ///   address has; `nil` when there will be no more messages.
    func wait() -> Bool? {
        var buffer = [UInt8](repeating: 0, count: 32 * 1024)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { return Self.changesWayOut(buffer[..<count]) }
            if count < 0, errno == EINTR { continue }
            // More messages arrived than the socket's buffer can hold.
            if count < 0, errno == ENOBUFS { return true }
            return nil
        }
    }

    /// Whether a message adds or removes a default route: one with an empty prefix.
    static func changesWayOut(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var place = 0
            // A header: length, type, …; for a route, then the family and the length of the prefix.
            while place + headerLength + 2 <= bytes.count {
                let length = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                let type = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt16.self)
                if type == newRoute || type == oldRoute, bytes[place + headerLength + 1] == 0 { return true }
                guard length >= headerLength else { return false }
                place += (length + 3) & ~3
            }
            return false
        }
    }
}
#endif
