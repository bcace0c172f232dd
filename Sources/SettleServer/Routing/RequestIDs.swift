internal import Synchronization

/// Makes the ids by which a request is found in a log: ten hexadecimal digits, in an order that nobody sees. They are no
/// secret.
final class RequestIDs: Sendable {
    private let last = Atomic(UInt64.random(in: 0 ... .max))

    /// Whether text may be the id of a request: as in CouchDB 36 letters, digits, dashes and underscores at most.
    static func isID(_ text: String) -> Bool {
        (1...36).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }

    /// An id that this process has not given in its last 2⁴⁰ requests.
    func next() -> String {
        // An odd factor keeps numbers apart that are apart.
        let number = last.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        let digits = String(number & 0xFF_FFFF_FFFF, radix: 16)
        return String(repeating: "0", count: 10 - digits.utf8.count) + digits
    }
}
