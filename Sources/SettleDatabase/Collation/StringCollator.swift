internal import CICU

#if canImport(Darwin)
internal import Foundation
#endif

/// Compares strings by Unicode's root collation, as CouchDB does with ICU.
///
/// On Apple's systems Foundation uses the same ICU; the two agreed on 20,000 pairs.
struct StringCollator: Sendable {
    /// The collator of the process.
    static let shared = StringCollator()

    #if canImport(Darwin)
    private let locale = Locale(identifier: "")
    // Unchecked, no lock: opened once, never closed and immutable since.
    private nonisolated(unsafe) static let keys = settle_collator_open()

    /// The version of the order.
    var version: String { "foundation " + ProcessInfo.processInfo.operatingSystemVersionString }

    private func collate(_ left: String, _ right: String) -> Collation.Order {
        let order = left.compare(right, options: [], range: nil, locale: locale)
        return Collation.Order(rawValue: order.rawValue) ?? .same
    }
    #else
    // Unchecked, no lock: opened once, never closed and immutable since. ICU allows any number of threads to compare
    // with it concurrently.
    nonisolated(unsafe) private let collator = settle_collator_open()

    /// The version of the order.
    var version: String {
        guard let collator else { return "bytes" }
        let number = settle_collator_version(collator)
        return "icu " + [24, 16, 8, 0].map { String(number >> $0 & 255) }.joined(separator: ".")
    }

    private func collate(_ left: String, _ right: String) -> Collation.Order {
        // ICU's root data is part of its library; if it can't be opened, only byte order is left.
        guard let collator else { return bytes(left, right) }
        var (left, right) = (left, right)
        let result = left.withUTF8 { left in
            right.withUTF8 { right in
                left.withMemoryRebound(to: CChar.self) { left in
                    right.withMemoryRebound(to: CChar.self) { right in
                        settle_collator_compare(
                            collator, left.baseAddress, Int32(clamping: left.count),
                            right.baseAddress, Int32(clamping: right.count))
                    }
                }
            }
        }
        return Collation.Order(Int(result), 0)
    }
    #endif

    /// Appends a string's sort key, which contains no zero byte, and a zero.
    func appendSortKey(of text: String, to bytes: inout [UInt8]) {
        #if canImport(Darwin)
        guard let collator = Self.keys else { return Self.appendEscaped(text, to: &bytes) }
        #else
        guard let collator else { return Self.appendEscaped(text, to: &bytes) }
        #endif
        let units = Array(text.utf16)
        let start = bytes.count
        // Most sort keys are hardly longer than their text.
        var room = units.count * 3 + 16
        while true {
            bytes.append(contentsOf: repeatElement(0, count: room))
            let needed = bytes.withUnsafeMutableBufferPointer { bytes in
                Int(
                    settle_collator_sort_key(
                        collator, units, Int32(clamping: units.count), bytes.baseAddress.map { $0 + start },
                        Int32(clamping: room)))
            }
            bytes.removeLast(bytes.count - start - min(needed, room))
            if needed <= room { return }
            bytes.removeLast(bytes.count - start)
            room = needed
        }
    }

    /// Appends the bytes of the text, those below two escaped as two, and a zero.
    static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if byte < 2 { bytes.append(1) }
            bytes.append(byte < 2 ? byte + 1 : byte)
        }
        bytes.append(0)
    }

    /// Compares two strings; canonically equivalent ones are equal.
    func compare(_ left: String, _ right: String) -> Collation.Order {
        left.utf8.elementsEqual(right.utf8) ? .same : collate(left, right)
    }

    /// Compares two strings by their UTF-8.
    func bytes(_ left: String, _ right: String) -> Collation.Order {
        if left.utf8.elementsEqual(right.utf8) { return .same }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .before : .after
    }
}
