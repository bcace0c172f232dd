internal import RevisionTree

/// JSON as CouchDB prints it.
///
/// The store keeps numbers as they are spelled; CouchDB reads each into a float or an integer and prints that: `1e3` as `1000.0`, `-0.0` as `0.0`, the integer `-0` as `0`.
enum WireJSON {
    /// Appends compact JSON with its numbers in CouchDB's spelling.
    ///
    /// - Complexity: O(*n*) in bytes; what has no floats is copied as it is.
    static func append(_ json: some RandomAccessCollection<UInt8>, to output: inout [UInt8]) {
        if json.first == UInt8(ascii: "\""),
            json.dropFirst().firstIndex(of: UInt8(ascii: "\""))
                .map({ json.index(after: $0) }) == json.endIndex
        {
            // A string without escapes of quotes, and nothing else.
            return output.append(contentsOf: json)
        }
        var copied = json.startIndex
        var index = json.startIndex
        var isInString = false
        while index < json.endIndex {
            let byte = json[index]
            if isInString {
                if byte == UInt8(ascii: "\\") { json.formIndex(after: &index) }
                if byte == UInt8(ascii: "\"") { isInString = false }
                json.formIndex(after: &index)
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                isInString = true
                json.formIndex(after: &index)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let start = index
                index = json[index...].firstIndex { !isPartOfNumber($0) } ?? json.endIndex
                if let other = respelled(json[start..<index]) {
                    output.append(contentsOf: json[copied..<start])
                    output.append(contentsOf: other.utf8)
                    copied = index
                }
            default: json.formIndex(after: &index)
            }
        }
        output.append(contentsOf: json[copied...])
    }

    /// A value as CouchDB prints it.
    static func bytes(_ value: JSON) -> [UInt8] {
        var output: [UInt8] = []
        append(value.utf8, to: &output)
        return output
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// Another spelling of a number, or `nil` when it stays.
    private static func respelled(_ spelling: some RandomAccessCollection<UInt8>) -> String? {
        if isPlain(spelling) { return nil }
        let isFloat = spelling.contains {
            $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E")
        }
        guard isFloat else { return spelling.elementsEqual("-0".utf8) ? "0" : nil }
        guard let number = JSONNumber(text: String(decoding: spelling, as: UTF8.self)) else { return nil }
        let value = number.double
        return value == 0 ? "0.0" : JSONNumber.spelling(of: value)
    }

    /// Whether a number is one of the many that need no look: an integer, or a few digits around a point that are the
    /// shortest spelling of their float, since any two decimals of up to fifteen digits are different floats.
    private static func isPlain(_ spelling: some RandomAccessCollection<UInt8>) -> Bool {
        var (digits, zeros, places) = (0, 0, 0)
        var (hasPoint, isZero) = (false, true)
        var last: UInt8 = 0
        for byte in spelling {
            last = byte
            switch byte {
            case UInt8(ascii: "0"):
                digits += 1
                if hasPoint, isZero { zeros += 1 }
            case UInt8(ascii: "1")...UInt8(ascii: "9"):
                digits += 1
                isZero = false
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "-"): break
            default: return false
            }
            if hasPoint { places += 1 }
        }
        guard !isZero else { return spelling.elementsEqual("0".utf8) }
        if !hasPoint { return true }
        return digits <= 15 && zeros < 4 && (last != UInt8(ascii: "0") || places == 2)
    }
}
