public import SettleCore
internal import SettlePlatform

extension DocumentID {
    /// An id that no other document has, anywhere: 32 hexadecimal digits, as CouchDB makes them.
    ///
    ///     0193a1c2b4f0 7d3e5a90c1f2b8a7e6d4
    ///     time         random
    ///
    /// The first 12 digits are the time in milliseconds since 1970, so that later documents have later ids, and an index of ids grows
    /// at its end. The others are random.
    ///
    /// - Complexity: O(1).
    public static func unique() -> DocumentID {
        let now = WallTime.now()
        let time = UInt64(now.seconds * 1000 + now.milliseconds) << 16
        return DocumentID(
            unchecked: hexadecimal(time | UInt64(UInt16.random(in: .min ... .max)))
                + hexadecimal(.random(in: .min ... .max)))
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
