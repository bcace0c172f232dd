package import SettleCore
internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A ``DocumentCoding`` in use. It is a class, because each part of a value references it.
package final class CodingRules: Sendable {
    private let coding: DocumentCoding
    /// The document that is decoded, for a model that contains its id or revision.
    let identity: DocumentIdentity?
    /// Whether the property `id` of the whole value is the id of a document, encoded as `_id`.
    private let idIsDocumentID: Bool
    /// Whether numbers that JSON does not have, infinity and NaN, are encoded as `null`; otherwise they are errors.
    let hasNullNumbers: Bool

    init(
        _ coding: DocumentCoding, identity: DocumentIdentity? = nil, idIsDocumentID: Bool = false,
        hasNullNumbers: Bool = false
    ) {
        (self.coding, self.identity, self.idIsDocumentID) = (coding, identity, idIsDocumentID)
        self.hasNullNumbers = hasNullNumbers
    }

    /// The rules for coding a model as a document.
    static func document(_ model: Any.Type, identity: DocumentIdentity? = nil) -> CodingRules {
        CodingRules(.of(model), identity: identity, idIsDocumentID: isIDOfDocument(in: model))
    }

    /// Whether the property `id` of a model is the id of its document.
    package static func isIDOfDocument(in model: Any.Type) -> Bool {
        guard let identifiable = model as? any Identifiable.Type, isIDOfDocument(identifiable) else { return false }
        return (model as? any DocumentModel.Type)?.idIsDocumentID ?? true
    }

    private static func isIDOfDocument<Model: Identifiable>(_ model: Model.Type) -> Bool {
        Model.ID.self is any DocumentIDConvertible.Type
    }

    /// The name of the member for a key at a path in the document.
    func name(of key: some CodingKey, in path: [any CodingKey]) -> String {
        idIsDocumentID && path.isEmpty && isForID(key) ? "_id" : key.stringValue
    }

    var userInfo: [CodingUserInfoKey: Any] { coding.userInfo }

    /// The JSON of a value whose type these rules encode; `nil` for a type that encodes itself.
    func encode<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws -> JSONValue? {
        if Value.self == Date.self, let date = value as? Date { return try encode(date, path) }
        if Value.self == Data.self, let data = value as? Data { return try encode(data) }
        if Value.self == URL.self, let url = value as? URL { return .string(url.absoluteString) }
        if Value.self == Decimal.self, let decimal = value as? Decimal {
            guard let number = JSONNumber(text: decimal.description) else {
                if hasNullNumbers { return .null }
                throw Self.invalid(decimal, path, "JSON has no \(decimal)")
            }
            return .number(number)
        }
        return nil
    }

    /// The value of a type that these rules decode; `nil` for another type.
    func decode<Value: Decodable>(_ type: Value.Type, _ place: JSONDecoding) throws -> Value? {
        if type == Date.self { return try date(place) as? Value }
        if type == Data.self { return try data(place) as? Value }
        if type == URL.self { return try Self.url(place) as? Value }
        if type == Decimal.self { return try Self.decimal(place) as? Value }
        return nil
    }

    private static func invalid(_ value: Any, _ path: [any CodingKey], _ message: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: message))
    }
}

extension CodingRules {
    private func encode(_ date: Date, _ path: [any CodingKey]) throws -> JSONValue {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        switch coding.dates {
        case .custom(let encode, _): return try encode(date)
        case .secondsSince1970:
            if let number = JSONNumber(date.timeIntervalSince1970) { return .number(number) }
        case .millisecondsSince1970:
            if let whole = Int64(exactly: milliseconds) { return .number(JSONNumber(whole)) }
        case .iso8601:
            if let whole = Int(exactly: milliseconds), let time = WallTime(millisecondsOfFourDigitYear: whole) {
                return .string(time.precise)
            }
        }
        // Foundation can't print such a date, so the error has its number.
        throw Self.invalid(date.timeIntervalSince1970, path, "a date of that many seconds since 1970 has no such form")
    }

    private func date(_ place: JSONDecoding) throws -> Date {
        if case .custom(_, let decode) = coding.dates { return try decode(place.value) }
        if case .string(let text) = place.value {
            guard let seconds = ISODate.seconds(of: text) else {
                throw place.invalid("\"\(text.prefix(40))\" is not an ISO 8601 date such as 2026-11-23T14:05:09.250Z")
            }
            return Date(timeIntervalSince1970: seconds)
        }
        guard case .number(let number) = place.value else {
            throw place.mismatch(Date.self, "a date as text of ISO 8601")
        }
        switch coding.dates {
        case .secondsSince1970: return Date(timeIntervalSince1970: number.double)
        case .millisecondsSince1970: return Date(timeIntervalSince1970: number.double / 1000)
        case .iso8601, .custom: return Date(timeIntervalSinceReferenceDate: number.double)
        }
    }

    private func encode(_ data: Data) throws -> JSONValue {
        if case .custom(let encode, _) = coding.data { return try encode(data) }
        return .string(Base64.encode(Array(data)))
    }

    private func data(_ place: JSONDecoding) throws -> Data {
        if case .custom(_, let decode) = coding.data { return try decode(place.value) }
        if case .array = place.value { return Data(try [UInt8](from: place)) }
        guard case .string(let text) = place.value else { throw place.mismatch(Data.self, "bytes as Base64 text") }
        guard let bytes = Base64.decode(text.utf8) else { throw place.invalid("the text is no Base64") }
        return Data(bytes)
    }

    private static func url(_ place: JSONDecoding) throws -> URL {
        guard case .string(let text) = place.value else { return try URL(from: place) }
        guard let url = URL(string: text) else { throw place.invalid("\"\(text.prefix(80))\" is no URL") }
        return url
    }

    private static func decimal(_ place: JSONDecoding) throws -> Decimal {
        let text: String
        switch place.value {
        case .number(let number): text = number.text
        case .string(let string): text = string
        default: return try Decimal(from: place)
        }
        guard isDecimal(text), let decimal = Decimal(string: text) else {
            throw place.invalid("\"\(text.prefix(40))\" is not a decimal number")
        }
        return decimal
    }

    /// Whether the whole text is a decimal number. Foundation reads `12,50` as 12, and `expensive` as 0.
    private static func isDecimal(_ text: String) -> Bool {
        func isNumber(_ part: Substring.UTF8View, points: Int) -> Bool {
            let hasSign = part.first == UInt8(ascii: "-") || part.first == UInt8(ascii: "+")
            let unsigned = hasSign ? part.dropFirst() : part
            let digits = unsigned.filter { $0 != UInt8(ascii: ".") }
            return !digits.isEmpty && digits.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
                && unsigned.count - digits.count <= points
        }
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        return isNumber(parts[0], points: 1) && (parts.count == 1 || isNumber(parts[1], points: 0))
    }
}

extension DocumentCoding {
    /// The rules of this coding for encoders and decoders.
    var rules: CodingRules { CodingRules(self) }
}

/// The id and the revision of a document that is decoded. They are not members of its body.
package struct DocumentIdentity: Sendable {
    let id: DocumentID
    let revision: RevisionID?

    package init(id: DocumentID, revision: RevisionID?) { (self.id, self.revision) = (id, revision) }

    /// The value with CouchDB's name for it; `nil` for any other name.
    subscript(name: String) -> JSONValue? {
        switch name {
        case "_id": .string(id.string)
        case "_rev": revision.map { .string($0.description) }
        default: nil
        }
    }
}

/// The name of an enumeration's case, from the runtime's reflection metadata; `nil` for other values.
///
/// The standard library prints enumerations with this function. Printing a coding key instead would use its own
/// description, which contains its string value and not the name of its case.
@_silgen_name("swift_EnumCaseName")
package func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// Whether a coding key stands for the property `id`: a case of that name, whatever its string value, or another
/// key with that string value.
func isForID(_ key: some CodingKey) -> Bool {
    // This creates no string, because it is called for each member of each document.
    guard let name = enumCaseName(key) else { return key.stringValue == "id" }
    return name[0] == UInt8(ascii: "i") && name[1] == UInt8(ascii: "d") && name[2] == 0
}
