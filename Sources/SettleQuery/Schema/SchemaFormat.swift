import SettleCore
internal import SettlePlatform

/// The string formats that a schema can require, if it checks formats.
enum SchemaFormat: String, Sendable {
    case dateTime = "date-time"
    case date, time, email, hostname, ipv4, ipv6, uri, uuid, regex
    case uriReference = "uri-reference"
    case jsonPointer = "json-pointer"
    case relativeJSONPointer = "relative-json-pointer"

    /// Whether text has the format.
    func allows(_ text: String) -> Bool {
        switch self {
        case .dateTime: DateText.isInternet(text, hasDate: true, hasTime: true)
        case .date: DateText.isInternet(text, hasDate: true, hasTime: false)
        case .time: DateText.isInternet(text, hasDate: false, hasTime: true)
        case .email: Self.isAddress(text)
        case .hostname: Self.isHost(text)
        case .ipv4: text.utf8.split(separator: UInt8(ascii: ".")).count == 4 && Self.isIP(text, AF_INET)
        case .ipv6: Self.isIP(text, AF_INET6)
        case .uri: Self.isReference(text, needsScheme: true)
        case .uriReference: Self.isReference(text, needsScheme: false)
        case .uuid: Self.isUUID(text)
        case .regex: (try? SchemaPattern(text)) != nil
        case .jsonPointer: Self.isPointer(text[...])
        case .relativeJSONPointer: Self.isRelativePointer(text)
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        guard let at = text.lastIndex(of: "@") else { return false }
        let local = text[..<at]
        let allowed = "!#$%&'*+-/=?^_`{|}~."
        let isPlain =
            !local.isEmpty && !local.hasPrefix(".") && !local.hasSuffix(".") && !local.contains("..")
            && local.utf8.allSatisfy { isLetter($0) || isDigit($0) || allowed.utf8.contains($0) }
        let isQuoted = local.utf8.count > 2 && local.hasPrefix("\"") && local.hasSuffix("\"")
        return (isPlain || isQuoted) && isHost(String(text[text.index(after: at)...]))
    }

    private static func isHost(_ text: String) -> Bool {
        guard 1...253 ~= text.utf8.count else { return false }
        return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            1...63 ~= label.count && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                && label.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
        }
    }

    private static func isIP(_ text: String, _ family: Int32) -> Bool {
        guard !text.utf8.contains(0) else { return false }
        var address = in6_addr()
        return inet_pton(family, text, &address) == 1
    }

    private static func isUUID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(isHexadecimal) }
    }

    /// Checks a reference by RFC 3986: only its characters, each `%` with two digits, and a scheme if required.
    private static func isReference(_ text: String, needsScheme: Bool) -> Bool {
        let bytes = Array(text.utf8)
        let allowed = "-._~:/?#[]@!$&'()*+,;=%"
        for (index, byte) in bytes.enumerated() {
            guard isLetter(byte) || isDigit(byte) || allowed.utf8.contains(byte) else { return false }
            guard byte == UInt8(ascii: "%") else { continue }
            guard index + 2 < bytes.count, isHexadecimal(bytes[index + 1]), isHexadecimal(bytes[index + 2]) else {
                return false
            }
        }
        let end = bytes.firstIndex { ":/?#".utf8.contains($0) }
        guard let end, bytes[end] == UInt8(ascii: ":") else { return !needsScheme }
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes[..<end].allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    private static func isPointer(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        guard text.utf8.first == UInt8(ascii: "/") else { return false }
        let parts = text.utf8.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        return parts.dropFirst().allSatisfy { $0.first == UInt8(ascii: "0") || $0.first == UInt8(ascii: "1") }
    }

    private static func isRelativePointer(_ text: String) -> Bool {
        let digits = text.utf8.prefix(while: isDigit)
        guard !digits.isEmpty, digits.count == 1 || digits.first != UInt8(ascii: "0") else { return false }
        let rest = text[digits.endIndex...]
        return rest == "#" || isPointer(rest)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { Hexadecimal.value(of: byte) != nil }
}

/// A compiled `pattern`.
///
/// `Regex` cannot be shared between threads, so one match at a time holds the lock.
final class SchemaPattern: Sendable {
    private let regex: Guarded<Regex<AnyRegexOutput>>

    /// Compiles a pattern, or throws the error in it.
    init(_ pattern: String) throws {
        regex = Guarded(
            try Regex(pattern).asciiOnlyDigits().asciiOnlyWordCharacters().matchingSemantics(.unicodeScalar))
    }

    /// Whether the pattern occurs anywhere in a string.
    func isFound(in text: String) -> Bool {
        regex.withLock { regex in ((try? regex.firstMatch(in: text)) ?? nil) != nil }
    }
}

// MARK: - SchemaFormatRule

/// `format`, if formats are checked.
struct SchemaFormatRule: SchemaRule {
    let format: SchemaFormat

    func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
        guard case .string(let text) = value, !format.allows(text) else { return }
        evaluation.report("format", "is not of the format \(format.rawValue): \(text)")
    }
}
