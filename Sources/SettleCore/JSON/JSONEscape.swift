/// Encoding and decoding the escapes of a JSON string.
enum JSONEscape {
    /// The UTF-16 unit of a `\uXXXX` at this position; `nil` for anything else.
    static func unit(at bytes: UnsafePointer<UInt8>, available: Int) -> UInt32? {
        guard available >= 6, bytes[0] == UInt8(ascii: "\\"), bytes[1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt32 = 0
        for index in 2..<6 {
            guard let digit = hexDigitValue(bytes[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Decodes a string's escapes. The string was scanned before, so it is valid.
    ///
    /// The output is never longer than the input.
    static func decode(_ text: UnsafeBufferPointer<UInt8>, emit: (UInt8) -> Void) {
        guard let base = text.baseAddress else { return }
        var index = 0
        while index < text.count {
            guard base[index] == UInt8(ascii: "\\"), index + 1 < text.count else {
                emit(base[index])
                index += 1
                continue
            }
            switch base[index + 1] {
            case UInt8(ascii: "b"): emit(0x08)
            case UInt8(ascii: "f"): emit(0x0C)
            case UInt8(ascii: "n"): emit(0x0A)
            case UInt8(ascii: "r"): emit(0x0D)
            case UInt8(ascii: "t"): emit(0x09)
            case UInt8(ascii: "u"):
                index += decodeUnit(base + index, available: text.count - index, emit: emit)
                continue
            case let other: emit(other)
            }
            index += 2
        }
    }

    /// Decodes one or two `\u` escapes to a character; returns their length in bytes.
    private static func decodeUnit(
        _ bytes: UnsafePointer<UInt8>, available: Int, emit: (UInt8) -> Void
    ) -> Int {
        let high = unit(at: bytes, available: available) ?? 0xFFFD
        guard 0xD800...0xDBFF ~= high, let low = unit(at: bytes + 6, available: available - 6) else {
            emitUTF8(high, emit)
            return 6
        }
        emitUTF8((high & 0x3FF) << 10 + (low & 0x3FF) + 0x10000, emit)
        return 12
    }

    private static func emitUTF8(_ value: UInt32, _ emit: (UInt8) -> Void) {
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { emit(byte) }
    }

    /// Whether ``encode(_:emit:)`` changes a byte.
    @inline(__always)
    static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Encodes one byte like CouchDB: `"`, `\` and control characters are escaped, all others unchanged.
    @inline(__always)
    static func encode(_ byte: UInt8, emit: (UInt8) -> Void) {
        guard isEscaped(byte) else { return emit(byte) }
        guard byte >= 0x20 else { return encodeControl(byte, emit: emit) }
        emit(UInt8(ascii: "\\"))
        emit(byte)
    }

    private static func encodeControl(_ byte: UInt8, emit: (UInt8) -> Void) {
        emit(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: emit(UInt8(ascii: "b"))
        case 0x0C: emit(UInt8(ascii: "f"))
        case 0x0A: emit(UInt8(ascii: "n"))
        case 0x0D: emit(UInt8(ascii: "r"))
        case 0x09: emit(UInt8(ascii: "t"))
        default:
            emit(UInt8(ascii: "u"))
            emit(UInt8(ascii: "0"))
            emit(UInt8(ascii: "0"))
            emit(UInt8(ascii: "0") + byte >> 4)
            emit(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "A") + byte & 15 - 10)
        }
    }
}
