import Foundation
import Settle
import SettleTesting
import Testing

/// Values of Foundation in documents: peers that know nothing of Swift read them, and what was stored before is read.
struct DocumentCodingTests {
    struct Note: Codable, Equatable {
        var at: Date
        var picture: Data
        var link: URL
        var price: Decimal
        var id: UUID
        var maybe: Date?
        var dates: [Date]
        var named: [String: Date]
    }

    private static let date = Date(timeIntervalSince1970: 1_795_442_709.25)
    private static let text = "2026-11-23T14:05:09.250Z"

    private func note() throws -> Note {
        Note(
            at: Self.date, picture: Data([0, 1, 254, 255]),
            link: try #require(URL(string: "https://example.org/a?b=c#d")),
            price: try #require(Decimal(string: "12345678901234567890.12")),
            id: try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")), maybe: Self.date,
            dates: [Self.date], named: ["birthday": Self.date])
    }

    @Test func `dates, bytes, addresses and decimals are stored as every peer knows them, and come back`() throws {
        let json = try JSONValue(encoding: try note())
        #expect(
            json == [
                "at": .string(Self.text), "picture": "AAH+/w==", "link": "https://example.org/a?b=c#d",
                "price": .number(try #require(JSONNumber(text: "12345678901234567890.12"))),
                "id": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "maybe": .string(Self.text),
                "dates": [.string(Self.text)],
                "named": ["birthday": .string(Self.text)],
            ])
        #expect(try json.decode(Note.self) == note())
        let folder = try TemporaryDatabase(.file)
        try folder.database.save(Document(id: "n", encoding: try note()), onConflict: .fail)
        let stored = try #require(try folder.database.document("n"))
        #expect(stored["at"] == .string(Self.text))
        #expect(try stored.decode(Note.self) == note())
    }

    @Test func `a value alone has the same form as in a model`() throws {
        #expect(try JSONValue(encoding: Self.date) == .string(Self.text))
        #expect(try JSONValue.string(Self.text).decode(Date.self) == Self.date)
        #expect(try JSONValue(encoding: Data("hé".utf8)) == "aMOp")
        #expect(try JSONValue.string("aMOp").decode(Data.self) == Data("hé".utf8))
    }

    @Test func `what earlier versions stored is read`() throws {
        #expect(try JSONValue(parsing: "-13.5").decode(Date.self) == Date(timeIntervalSinceReferenceDate: -13.5))
        #expect(try JSONValue(parsing: "[0,1,254,255]").decode(Data.self) == Data([0, 1, 254, 255]))
        #expect(
            try JSONValue(parsing: #"{"relative":"https://example.org/a"}"#).decode(URL.self).absoluteString
                == "https://example.org/a")
        let decimal = try #require(Decimal(string: "-12.50"))
        let encoded = try JSONEncoder().encode(Old(value: decimal))
        #expect(try JSONValue(utf8: Array(encoded)).decode(DocumentCodingTests.Box<Decimal>.self).value == decimal)
        #expect(try JSONValue(parsing: #""-12.5""#).decode(Decimal.self) == decimal)
    }

    @Test(arguments: ["12.50", "-12.5", "+7", ".5", "3.", "007", "1e3", "-1.5E-2"])
    func `a decimal number is read from text`(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        #expect(try JSONValue.string(text).decode(Decimal.self) == decimal)
    }

    @Test(arguments: [
        "", " ", "-", ".", "e", "e5", "expensive", "12,50", "12.50 EUR", "1.2.3", "1e", "1e2.5", "--1", "0x10", "٣",
    ])
    func `text that only begins with a decimal number is refused`(text: String) {
        #expect(throws: DecodingError.self) { try JSONValue.string(text).decode(Decimal.self) }
    }

    /// Encodes a decimal by its own conformance, as each encoder does that does not know it.
    private struct Old: Encodable {
        let value: Decimal
        enum Key: CodingKey { case value }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try value.encode(to: container.superEncoder(forKey: .value))
        }
    }

    struct Box<Value: Codable & Sendable>: Codable, Sendable { var value: Value }

    @Test(arguments: [
        ("2026-11-23T14:05:09Z", 1_795_442_709), ("2026-11-23T15:05:09.25+01:00", 1_795_442_709.25),
        ("2026-11-23T09:05:09,250000-0500", 1_795_442_709.25), ("2026-11-23t14:05:09z", 1_795_442_709),
        ("2026-11-23 14:05:09+00", 1_795_442_709), ("2026-11-23", 1_795_392_000), ("1969-12-31T23:59:59.999Z", -0.001),
        ("0000-01-01T00:00:00.000Z", -62_167_219_200), ("9999-12-31T23:59:59.999Z", 253_402_300_799.999),
        ("2024-02-29", 1_709_164_800),
    ])
    func `dates of others are read, with any fraction and offset`(text: String, seconds: Double) throws {
        let date = try JSONValue.string(text).decode(Date.self)
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_001)
    }

    @Test(arguments: [
        "", "yesterday", "2026-13-01", "2026-02-29", "2026-11-23T14:05:09", "2026-11-23T24:05:09Z", "2026-11-23T14:05Z",
        "2026-11-23T14:05:09.Z", "2026-11-23T14:05:09Zx", "2026-11-23T14:05:09+1", "20261123T140509Z", "٢٠٢٦-11-23",
    ])
    func `text that is no date is refused with its place`(text: String) throws {
        let error = #expect(throws: DecodingError.self) {
            try JSONValue.object(["value": .string(text)]).decode(Box<Date>.self)
        }
        guard case .dataCorrupted(let context)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(context.codingPath.map(\.stringValue) == ["value"])
        #expect(context.debugDescription.contains("ISO 8601"))
    }

    @Test func `dates outside of the years 0 to 9999 are refused, and so are values of another kind`() throws {
        for seconds in [253_402_300_800, -62_167_219_200.01, .infinity, .nan, 1e300] {
            #expect(throws: EncodingError.self) { try JSONValue(encoding: Date(timeIntervalSince1970: seconds)) }
        }
        #expect(throws: DecodingError.self) { try JSONValue.null.decode(Date.self) }
        #expect(throws: DecodingError.self) { try JSONValue.bool(true).decode(Date.self) }
        #expect(throws: DecodingError.self) { try JSONValue.string("a b").decode(Data.self) }
        #expect(throws: DecodingError.self) { try JSONValue.string("").decode(URL.self) }
        #expect(throws: EncodingError.self) { try JSONValue(encoding: Decimal.nan) }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `the order of stored dates is that of time, and each comes back to the millisecond`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let seconds = (0..<100).map { _ in
            Double(random.below(4_000_000_000_000) - 600_000_000_000) / 20 + Double(random.below(1000)) / 1000
        }
        var texts: [(Double, String)] = []
        for second in seconds {
            let json = try JSONValue(encoding: Date(timeIntervalSince1970: second))
            let back = try json.decode(Date.self).timeIntervalSince1970
            #expect(abs(back - second) <= 0.000_51, "seed \(seed)")
            texts.append((back, try #require(json.string)))
        }
        let byTime = texts.sorted { $0.0 < $1.0 }.map(\.1)
        #expect(byTime == texts.map(\.1).sorted(), "seed \(seed)")
    }
}
