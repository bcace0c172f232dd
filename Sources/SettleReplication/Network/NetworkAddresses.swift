internal import SettlePlatform

/// The addresses by which this machine communicates: those of running interfaces, without loopback and link-local ones.
struct NetworkAddresses: Hashable, Sendable {
    private static let isUp: UInt32 = 0x1
    private static let isLoopback: UInt32 = 0x8
    private static let isRunning: UInt32 = 0x40

    private let all: Set<[UInt8]>

    /// The current addresses; none if they can't be listed.
    static func now() -> NetworkAddresses {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return NetworkAddresses(all: []) }
        defer { freeifaddrs(first) }
        var all: Set<[UInt8]> = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            let flags = entry.ifa_flags
            guard flags & isUp != 0, flags & isRunning != 0, flags & isLoopback == 0, let address = entry.ifa_addr,
                let bytes = bytes(of: address)
            else { continue }
            all.insert(Array(String(cString: entry.ifa_name).utf8) + [0] + bytes)
        }
        return NetworkAddresses(all: all)
    }

    private static func bytes(of address: UnsafeMutablePointer<sockaddr>) -> [UInt8]? {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return Array(UnsafeRawBufferPointer(start: raw + 4, count: 4))
        case AF_INET6:
            let bytes = Array(UnsafeRawBufferPointer(start: raw + 8, count: 16))
            return bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 ? nil : bytes
        default: return nil
        }
    }
}
