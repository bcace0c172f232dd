internal import SettlePlatform

/// A BLIP message: properties, which are strings by name, and a body.
package struct BLIPMessage: Hashable, Sendable {
    /// The kind of a message.
    package enum Kind: Hashable, Sendable {
        case request
        case reply
        case error
    }

    package var kind: Kind
    /// The number. Requests count from 1 in each direction; an answer has the number of its request.
    package var number: UInt64
    package var properties: [String: String]
    package var body: [UInt8]
    /// Whether it is sent before other messages.
    package var isUrgent: Bool
    /// Whether the request wants no answer.
    package var isSilent: Bool
    /// The memory of its properties and its body, in bytes.
    package var bytes: Int { properties.reduce(body.count) { $0 + $1.key.utf8.count + $1.value.utf8.count } }
    /// Whether the message was too long to be kept, so that it has only properties.
    var isTooLong = false

    package init(
        _ kind: Kind = .request, number: UInt64 = 0, properties: [String: String] = [:], body: [UInt8] = [],
        isUrgent: Bool = false, isSilent: Bool = false
    ) {
        (self.kind, self.number, self.properties, self.body) = (kind, number, properties, body)
        (self.isUrgent, self.isSilent) = (isUrgent, isSilent)
    }

    /// The maximum size of properties that Couchbase Lite accepts, in bytes.
    static let maximumPropertyBytes = 102_400

    /// The size of the properties in a frame, where U+0000 ends each name and each value.
    private var propertyBytes: Int { bytes - body.count + 2 * properties.count }

    /// The reason why no message can carry these properties; `nil` if this one can be sent.
    ///
    /// Ids of documents and revisions may be any text. One that contains U+0000 would be read as several properties,
    /// and too many bytes end the connection.
    package var fault: String? {
        let names = properties.filter { $0.value.utf8.contains(0) }.map(\.key)
        if let name = names.min() { return "its property `\(name)` contains U+0000, which no message can carry" }
        guard propertyBytes > Self.maximumPropertyBytes else { return nil }
        return "its properties have \(propertyBytes) bytes, and a message carries \(Self.maximumPropertyBytes)"
    }

    /// The length of the properties, the properties, and the body.
    var payload: [UInt8] {
        let length = propertyBytes
        var payload: [UInt8] = []
        payload.reserveCapacity(length + body.count + 4)
        VariableNumber.append(length, to: &payload)
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            for text in [name, value] {
                payload += text.utf8
                payload.append(0)
            }
        }
        payload += body
        return payload
    }

    /// Parses the payload of a received message.
    ///
    /// - Throws: ``BLIPError`` if the properties are not pairs of strings.
    init(_ kind: Kind, number: UInt64, payload: [UInt8], flags: BLIPFlags) throws(BLIPError) {
        var place = 0
        let length = payload.withUnsafeBytes { VariableNumber.readLength($0, &place) }
        guard let length, length <= Self.maximumPropertyBytes else {
            throw .broken(
                "the properties of message \(number) are longer than the message, or than \(Self.maximumPropertyBytes) bytes"
            )
        }
        let text = payload[place..<place + length]
        var properties: [String: String] = [:]
        if length > 0 {
            let parts = text.split(separator: 0, omittingEmptySubsequences: false)
            guard text.last == 0, parts.count % 2 == 1 else {
                throw .broken("the properties of message \(number) are not pairs of texts")
            }
            for index in stride(from: 0, to: parts.count - 1, by: 2) {
                guard let name = String(validating: parts[index], as: UTF8.self),
                    let value = String(validating: parts[index + 1], as: UTF8.self)
                else { throw .broken("the properties of message \(number) are not UTF-8") }
                properties[name] = value
            }
        }
        self.init(
            kind, number: number, properties: properties, body: Array(payload[(place + length)...]),
            isUrgent: flags.contains(.urgent), isSilent: flags.contains(.noReply))
    }

    /// The profile of a request: the kind of request.
    package var profile: String { properties["Profile"] ?? "" }

    /// A Boolean property; `1` and `true` mean true.
    package func flag(_ name: String) -> Bool { ["1", "true"].contains(properties[name]) }

    /// The error of an error answer; `nil` for another message.
    package var failure: BLIPError? {
        guard kind == .error else { return nil }
        return BLIPError(
            properties["Error-Domain"] ?? "BLIP", properties["Error-Code"].flatMap { Int($0) } ?? 0,
            String(decoding: body, as: UTF8.self))
    }

    /// The answer to a request that has failed.
    package static func failure(_ error: BLIPError) -> BLIPMessage {
        BLIPMessage(
            .error, properties: ["Error-Domain": error.domain, "Error-Code": "\(error.code)"],
            body: Array(error.description.utf8))
    }
}

// MARK: - BLIPFlags

/// The flags of a frame, of one byte.
struct BLIPFlags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    /// The frame went through the connection's deflate.
    static let compressed = BLIPFlags(rawValue: 0x08)
    /// The message is sent before others.
    static let urgent = BLIPFlags(rawValue: 0x10)
    /// The request wants no answer.
    static let noReply = BLIPFlags(rawValue: 0x20)
    /// More frames of this message follow.
    static let moreComing = BLIPFlags(rawValue: 0x40)

    /// The kind of message to which a frame belongs.
    enum Kind: UInt8, Sendable {
        case request = 0
        case reply = 1
        case error = 2
        /// An acknowledgement of a request's bytes.
        case requestReceived = 4
        /// An acknowledgement of a reply's bytes.
        case replyReceived = 5
    }

    /// The kind; `nil` for one that the protocol does not define.
    var kind: Kind? { Kind(rawValue: rawValue & 0x07) }

    init(rawValue: UInt8) { self.rawValue = rawValue }
    init(_ kind: Kind, _ others: BLIPFlags = []) { rawValue = kind.rawValue | others.rawValue }
}

// MARK: - BLIPError

/// The answer of the other end to a failed request, or the reason why a connection ends.
package struct BLIPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The list that defines the code: `HTTP` for statuses, `BLIP` for the protocol's own codes.
    package let domain: String
    package let code: Int
    package let description: String

    package init(_ domain: String, _ code: Int, _ description: String) {
        (self.domain, self.code, self.description) = (domain, code, description)
    }

    /// An error with an HTTP status.
    package static func http(_ status: Int, _ reason: String) -> BLIPError { BLIPError("HTTP", status, reason) }
    /// This end does not handle requests of this profile.
    package static let noHandler = BLIPError("BLIP", 404, "no handler for message")
    /// The other end has violated the protocol, so nothing else it sends can be understood.
    package static func broken(_ rule: String) -> BLIPError { BLIPError("BLIP", 400, rule) }
    /// The connection has ended before the answer.
    package static let closed = BLIPError("BLIP", 504, "the connection was closed")
}
