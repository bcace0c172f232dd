#if os(Linux)
import CICU

/// The root collator of the system's ICU.
// Unchecked, no lock: opened once, never closed and immutable since.
struct ICU: @unchecked Sendable {
    /// The collator of the process; nil where ICU's data is missing.
    static let shared = settle_collator_open().map(ICU.init)

    private let collator: UnsafeRawPointer

    private init(collator: UnsafeRawPointer) { self.collator = collator }

    /// The version of its rules and data, as Settle spells it.
    var version: String {
        let number = settle_collator_version(collator)
        return "icu " + [24, 16, 8, 0].map { String(number >> $0 & 255) }.joined(separator: ".")
    }

    /// A string's sort key, with the zero at its end.
    func key(of text: String) -> [UInt8] {
        let units = Array(text.utf16)
        let count = Int32(units.count)
        return [UInt8](unsafeUninitializedCapacity: units.count * 16 + 128) { room, length in
            let needed = settle_collator_sort_key(collator, units, count, room.baseAddress, Int32(room.count))
            length = min(Int(needed), room.count)
        }
    }

    /// Compares two strings: -1, 0 or 1.
    func order(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                left.withMemoryRebound(to: CChar.self) { left in
                    right.withMemoryRebound(to: CChar.self) { right in
                        Int(
                            settle_collator_compare(
                                collator, left.baseAddress, Int32(left.count), right.baseAddress, Int32(right.count)))
                    }
                }
            }
        }
    }
}
#endif
