internal import SettlePlatform

/// The addresses that begin with the same bits: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
public struct NetworkRange: Sendable, Hashable, CustomStringConvertible {
    private let address: NetworkAddress
    /// The number of bits that must be equal.
    private let length: Int

    /// Parses an address, or a range in CIDR notation; `nil` for anything else, such as a host name.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, let address = NetworkAddress(first) else { return nil }
        let most = address.bytes.count * 8
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(parts[1]), length <= most else {
                return nil
            }
            self.length = length
        } else {
            length = most
        }
        self.address = address
    }

    /// The range in CIDR notation: `10.0.0.0/8`.
    public var description: String { "\(address.text)/\(length)" }

    /// Whether an address is in the range.
    func contains(_ other: NetworkAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = length / 8
        guard other.bytes.prefix(whole).elementsEqual(address.bytes.prefix(whole)) else { return false }
        guard length % 8 > 0 else { return true }
        let shift = UInt8(8 - length % 8)
        return other.bytes[whole] >> shift == address.bytes[whole] >> shift
    }
}

// MARK: - NetworkAddress

/// An IPv4 or IPv6 address. An IPv4 address in IPv6 form (`::ffff:192.0.2.1`) becomes IPv4.
struct NetworkAddress: Sendable, Hashable {
    /// Four or sixteen bytes.
    let bytes: [UInt8]

    /// Parses a numeric address; `nil` for anything else, such as a name.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            let isMapped = bytes.prefix(12).elementsEqual([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
            self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
        } else {
            return nil
        }
    }

    /// Parses an address as proxies write it: with or without a port, in quotes or not.
    init?(forwarded text: String) {
        var text = text[...]
        if text.count > 1, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]"), Self.isPort(text[text.index(after: end)...]) else { return nil }
            text = text[text.index(after: text.startIndex)..<end]
        } else if let colon = text.firstIndex(of: ":"), text[text.index(after: colon)...].firstIndex(of: ":") == nil {
            guard Self.isPort(text[colon...]) else { return nil }
            text = text[..<colon]
        }
        self.init(String(text))
    }

    /// The address in its usual spelling.
    var text: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether text is empty, or a colon and a port.
    private static func isPort(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        guard text.first == ":", text.utf8.dropFirst().allSatisfy({ 0x30...0x39 ~= $0 }) else { return false }
        return UInt16(text.dropFirst()) != nil
    }
}
