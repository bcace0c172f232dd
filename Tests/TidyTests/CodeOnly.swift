/// Blanks out everything in Swift source that is not code: comments, the contents of strings, and quoted identifiers.
///
/// Lines keep their number. Interpolated code inside a string stays. Regular expression literals are not recognised;
/// one with a single quote can mislead it, to the end of that line at most.
func codeOnly(_ text: String) -> String {
    var mask = CodeMask(Array(text.utf8))
    return String(decoding: mask.masked(), as: UTF8.self)
}

/// One pass over the bytes of a Swift file, with a stack of the enclosing constructs.
private struct CodeMask {
    enum Place: Equatable {
        case code
        /// Code between `\(` and `)`, with the number of parentheses open in it.
        case interpolation(open: Int)
        case string(hashes: Int, isMultiline: Bool)
    }

    let bytes: [UInt8]
    var out: [UInt8] = []
    var index = 0
    var places: [Place] = [.code]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        out.reserveCapacity(bytes.count)
    }

    mutating func masked() -> [UInt8] {
        while index < bytes.count {
            switch places.last ?? .code {
            case .code: stepInCode()
            case .interpolation(let open): stepInInterpolation(open: open)
            case .string(let hashes, let isMultiline): stepInString(hashes: hashes, isMultiline: isMultiline)
            }
        }
        return out
    }

    private mutating func stepInCode() {
        if at("//") {
            while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { blank(1) }
        } else if at("/*") {
            skipBlockComment()
        } else if at("`") {
            keep(1)
            while index < bytes.count, !at("`"), !at("\n") { blank(1) }
            keep(1)
        } else if let (hashes, isMultiline) = openingQuote() {
            keep(hashes + (isMultiline ? 3 : 1))
            places.append(.string(hashes: hashes, isMultiline: isMultiline))
        } else {
            keep(1)
        }
    }

    private mutating func stepInInterpolation(open: Int) {
        if at("(") {
            places[places.count - 1] = .interpolation(open: open + 1)
        } else if at(")") {
            places.removeLast()
            if open > 0 { places.append(.interpolation(open: open - 1)) }
        }
        stepInCode()
    }

    private mutating func stepInString(hashes: Int, isMultiline: Bool) {
        let marks = String(repeating: "#", count: hashes)
        let quote = isMultiline ? "\"\"\"" : "\""
        if at(quote + marks) {
            places.removeLast()
            keep(quote.utf8.count + hashes)
        } else if at("\n"), !isMultiline {
            places.removeLast()
        } else if at("\\" + marks + "(") {
            keep(hashes + 2)
            places.append(.interpolation(open: 0))
        } else {
            blank(at("\\" + marks) ? hashes + 2 : 1)
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if at("/*") { depth += 1 } else if at("*/") { depth -= 1 }
            blank(at("/*") || at("*/") ? 2 : 1)
        } while depth > 0 && index < bytes.count
    }

    private func openingQuote() -> (hashes: Int, isMultiline: Bool)? {
        var quote = index
        while quote < bytes.count, bytes[quote] == UInt8(ascii: "#") { quote += 1 }
        guard at("\"", from: quote) else { return nil }
        return (quote - index, at("\"\"\"", from: quote))
    }

    private func at(_ text: String, from start: Int? = nil) -> Bool {
        bytes[(start ?? index)...].starts(with: text.utf8)
    }

    private mutating func keep(_ count: Int) {
        let end = min(index + count, bytes.count)
        out += bytes[index..<end]
        index = end
    }

    private mutating func blank(_ count: Int) {
        let end = min(index + count, bytes.count)
        out += bytes[index..<end].map { $0 == UInt8(ascii: "\n") ? $0 : UInt8(ascii: " ") }
        index = end
    }
}
