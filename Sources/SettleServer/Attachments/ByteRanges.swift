internal import SettlePlatform

/// The header `Range`, as CouchDB reads it.
enum ByteRanges {
    /// The requested ranges of a content; `nil` for all of it.
    ///
    /// - Throws: ``HTTPError/rangeNotSatisfiable``.
    static func parse(_ header: String?, length: Int64) throws -> [Range<Int64>]? {
        guard let header, header.hasPrefix("bytes=") else { return nil }
        var ranges: [Range<Int64>] = []
        for item in header.dropFirst(6).split(separator: ",") {
            let parts = String(item).trimmingBlanks().split(
                separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let first = bound(parts[0]), let last = bound(parts[1]) else { return nil }
            let from: Int64
            let to: Int64
            switch (first, last) {
            case (nil, nil): return nil
            case (0?, nil): return nil
            case (let start?, nil): (from, to) = (start, length - 1)
            case (nil, let count?): (from, to) = (max(length - count, 0), length - 1)
            case (let start?, let end?): (from, to) = (start, min(end, length - 1))
            }
            guard from <= to else { throw HTTPError.rangeNotSatisfiable }
            ranges.append(from..<to + 1)
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// A number, or `.some(nil)` for a missing one; `nil` if malformed.
    private static func bound(_ text: Substring) -> Int64?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = Int64(text) else {
            return nil
        }
        return .some(number)
    }
}
