extension PatternTranslator {
    /// Parses an escape after its backslash, outside of a class.
    mutating func escape() throws(PatternRefusal) -> Part {
        guard let byte = peek else { throw .malformed }
        escapes.insert(byte)
        // `\S` and `\h` share the byte A0, `\S` and `\v` share 85. PCRE2 assumes that they share none, and never goes back
        // into a repetition of one before the other.
        if escapes.contains(UInt8(ascii: "S")), !escapes.isDisjoint(with: Array("hv".utf8)) {
            throw .unsupported(#"\S with \h or \v; [^\s] is the same as \S"#)
        }
        switch byte {
        case UInt8(ascii: "A"): return consumed(assertion(#"\A"#))
        case UInt8(ascii: "z"): return consumed(assertion(#"\z"#))
        case UInt8(ascii: "Z"): return consumed(assertion(#"(?=\u000a?\z)"#))
        case UInt8(ascii: "b"): return consumed(assertion(#"\b"#))
        case UInt8(ascii: "B"): return consumed(assertion(#"\B"#))
        case UInt8(ascii: "N") where place + 1 == bytes.count || bytes[place + 1] != UInt8(ascii: "{"):
            return consumed(part(ByteSet(10...10).inverted))
        case 49...57: return try reference()
        default:
            let set = try escapedSet()
            return part(flags.ignoresCase ? set.ignoringCase : set)
        }
    }

    private mutating func consumed(_ part: Part) -> Part {
        place += 1
        return part
    }

    /// Parses the number of a group that was closed before.
    private mutating func reference() throws(PatternRefusal) -> Part {
        let number = Int(bytes[place] - 48)
        place += 1
        if let next = peek, 48...57 ~= next {
            throw .unsupported("references of two digits, and octal numbers without 0")
        }
        guard number <= groups.count, let group = groups[number - 1] else {
            throw .unsupported("references to a group that is not closed before")
        }
        // ICU compares these bytes without counting steps.
        guard let longest = group.longest, longest <= 1000 else {
            throw .unsupported("references to a group that may have more than 1,000 bytes")
        }
        hidesWork = true
        let text = flags.ignoresCase ? "(?i:\\\(number))" : "(?:\\\(number))"
        return Part(text: text, length: nil, longest: longest, canBeEmpty: group.canBeEmpty)
    }

    /// Parses an escaped byte or class, which has the same meaning inside and outside of brackets.
    mutating func escapedSet() throws(PatternRefusal) -> ByteSet {
        guard let byte = peek else { throw .malformed }
        place += 1
        switch byte {
        case UInt8(ascii: "d"): return .digits
        case UInt8(ascii: "D"): return ByteSet.digits.inverted
        case UInt8(ascii: "w"): return .words
        case UInt8(ascii: "W"): return ByteSet.words.inverted
        case UInt8(ascii: "s"): return .spaces
        case UInt8(ascii: "S"): return ByteSet.spaces.inverted
        case UInt8(ascii: "h"): return .horizontal
        case UInt8(ascii: "H"): return ByteSet.horizontal.inverted
        case UInt8(ascii: "v"): return .vertical
        case UInt8(ascii: "V"): return ByteSet.vertical.inverted
        default:
            place -= 1
            let byte = try escapedByte()
            return ByteSet(byte...byte)
        }
    }

    private mutating func escapedByte() throws(PatternRefusal) -> UInt8 {
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: "a"): return 7
        case UInt8(ascii: "e"): return 27
        case UInt8(ascii: "f"): return 12
        case UInt8(ascii: "n"): return 10
        case UInt8(ascii: "r"): return 13
        case UInt8(ascii: "t"): return 9
        case UInt8(ascii: "0"): return UInt8(digits(atMost: 2, radix: 8))
        case UInt8(ascii: "x"):
            guard skip("{") else { return UInt8(digits(atMost: 2, radix: 16)) }
            let start = place
            let number = digits(atMost: 8, radix: 16)
            guard place > start, number < 256, skip("}") else { throw .malformed }
            return UInt8(number)
        case 48...57, 65...90, 97...122: throw .unsupported("\\" + String(UnicodeScalar(byte)))
        default: return byte
        }
    }

    private mutating func digits(atMost most: Int, radix: Int) -> Int {
        var (number, count) = (0, 0)
        while count < most, let byte = peek, let digit = Self.digit(byte), digit < radix {
            number = number * radix + digit
            (place, count) = (place + 1, count + 1)
        }
        return number
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 48...57: Int(byte) - 48
        case 65...70: Int(byte) - 55
        case 97...102: Int(byte) - 87
        default: nil
        }
    }
}

// MARK: - Classes

extension PatternTranslator {
    /// Parses a class after its opening bracket, through the closing one.
    mutating func characterClass() throws(PatternRefusal) -> ByteSet {
        let isNegated = skip("^")
        var set = ByteSet()
        var isFirst = true
        while isFirst || peek != UInt8(ascii: "]") {
            isFirst = false
            let start = place
            let element = try classElement()
            guard case .byte(let low) = element, startsRange else {
                set.formUnion(element.set)
                // PCRE2 refuses a hyphen after a class, unless it is the last one.
                if case .set = element, startsRange { throw .malformed }
                continue
            }
            place += 1
            guard place < bytes.count, case .byte(let high) = try classElement(), low <= high else { throw .malformed }
            set.insert(low...high)
            if startsRange { throw .unsupported("a hyphen after a range") }
            guard place > start else { throw .malformed }
        }
        place += 1
        if flags.ignoresCase { set = set.ignoringCase }
        if isNegated { set = set.inverted }
        guard !set.isEmpty else { throw .unsupported("classes without characters") }
        return set
    }

    private enum Element {
        case byte(UInt8)
        case set(ByteSet)

        var set: ByteSet {
            switch self {
            case .byte(let byte): ByteSet(byte...byte)
            case .set(let set): set
            }
        }
    }

    /// Whether the next character is a hyphen that is not the last character of the class.
    private var startsRange: Bool {
        peek == UInt8(ascii: "-") && place + 1 < bytes.count && bytes[place + 1] != UInt8(ascii: "]")
    }

    private mutating func classElement() throws(PatternRefusal) -> Element {
        guard let byte = peek else { throw .malformed }
        if byte == UInt8(ascii: "["), place + 1 < bytes.count, Array(":.=".utf8).contains(bytes[place + 1]) {
            return .set(try namedClass())
        }
        place += 1
        guard byte == UInt8(ascii: "\\") else { return .byte(byte) }
        if skip("b") { return .byte(8) }
        let set = try escapedSet()
        return set.onlyByte.map(Element.byte) ?? .set(set)
    }

    /// Parses a POSIX class, like `[:alpha:]` or `[:^alpha:]`.
    private mutating func namedClass() throws(PatternRefusal) -> ByteSet {
        guard skip("[:") else { throw .unsupported("equivalent and collating characters") }
        let isNegated = skip("^")
        let name = bytes[place...].prefix { 97...122 ~= $0 }
        place += name.count
        guard skip(":]"), let set = ByteSet.named[String(decoding: name, as: UTF8.self)] else {
            throw .unsupported("[: in a class without the name of one")
        }
        return isNegated ? set.inverted : set
    }
}
