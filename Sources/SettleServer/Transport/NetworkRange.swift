/// Addresses that begin with the same bits: `10.0.0.0/8`, `2001:db8::/32`, or one address alone.
public struct NetworkRange: Sendable, Hashable, CustomStringConvertible {
    private let address: NetworkAddress
    /// How many bits have to be the same.
    private let length: Int

    /// Reads an address, or a range in CIDR's notation; `nil` for anything else, such as a host's name.
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

    /// The range in CIDR's notation: `10.0.0.0/8`.
    public var description: String { "\(address.text)/\(length)" }

    /// Whether an address is one of them.
    func contains(_ other: NetworkAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = length / 8
        guard other.bytes.prefix(whole).elementsEqual(address.bytes.prefix(whole)) else { return false }
        guard length % 8 > 0 else { return true }
        let shift = UInt8(8 - length % 8)
        return other.bytes[whole] >> shift == address.bytes[whole] >> shift
    }
}
