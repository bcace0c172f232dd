extension PatternTranslator {
    /// Reads what follows an opening bracket, up to the closing one.
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

    /// Whether a hyphen comes next that is not the last character of the class.
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

    /// Reads a class of POSIX, as `[:alpha:]` or `[:^alpha:]`.
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
