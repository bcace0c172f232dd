/// Removes credentials from URLs before a text is logged or shown.
package enum URLRedaction {
    /// The text without credentials in URLs: everything between `://` and the last `@` before the next slash, blank or
    /// quote is removed, also where these are percent-escaped.
    package static func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let start = separator(bytes, index) else {
                result.append(bytes[index])
                index += 1
                continue
            }
            result += bytes[index..<start]
            var end = start
            var last: Int?
            while end < bytes.count, !isEnd(bytes, end) {
                if bytes[end] == UInt8(ascii: "@") { last = end }
                if isEscape(bytes, end, "40") { last = end }
                end += 1
            }
            if last != nil { result.append(UInt8(ascii: "*")) }
            index = last ?? start
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The index after a `://` that starts at an index, however it is escaped.
    private static func separator(_ bytes: [UInt8], _ index: Int) -> Int? {
        var place = index
        for (plain, escape) in [(UInt8(ascii: ":"), "3a"), (UInt8(ascii: "/"), "2f"), (UInt8(ascii: "/"), "2f")] {
            if place < bytes.count, bytes[place] == plain {
                place += 1
            } else if isEscape(bytes, place, escape) {
                place += 3
            } else {
                return nil
            }
        }
        return place
    }

    private static func isEnd(_ bytes: [UInt8], _ index: Int) -> Bool {
        [UInt8(ascii: "/"), UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "&")].contains(bytes[index])
            || isEscape(bytes, index, "2f") || isEscape(bytes, index, "20")
    }

    private static func isEscape(_ bytes: [UInt8], _ index: Int, _ digits: String) -> Bool {
        guard index + 2 < bytes.count, bytes[index] == UInt8(ascii: "%") else { return false }
        return String(decoding: bytes[index + 1...index + 2], as: UTF8.self).lowercased() == digits
    }
}
