package import SettleCore

/// The order of a view's keys.
package enum KeyOrder: Sendable {
    /// That of ``Collation``.
    case collation
    /// That of ``ErlangOrder``, which CouchDB calls raw: strings by their bytes.
    case raw

    /// Compares two keys.
    package func compare(_ left: JSONValue, _ right: JSONValue) -> Collation.Order {
        switch self {
        case .collation: Collation.compare(left, right)
        case .raw: ErlangOrder.compare(left, right)
        }
    }

    /// The first byte of a key. No two orders share one, so that a key identifies its order.
    func tag(of value: JSONValue) -> UInt8 {
        switch (value, self) {
        case (.null, .collation): 0x10
        case (.bool(let flag), .collation): flag ? 0x21 : 0x20
        case (.number, .collation): 0x30
        case (.string, .collation): 0x40
        case (.array, .collation): 0x50
        case (.object, .collation): 0x60
        case (.number, .raw): 0x80
        case (.bool(let flag), .raw): flag ? 0x92 : 0x90
        case (.null, .raw): 0x91
        case (.object, .raw): 0xA0
        case (.array, .raw): 0xA1
        case (.string, .raw): 0xB0
        }
    }
}
