import Foundation
import Settle
import SettleTesting
import Testing

/// A model with a coding of its own, and codings that are given.
struct DocumentCodingStrategyTests {
    struct Reading: DocumentModel, Equatable {
        var at: Date
        var n: Int
        static let coding = DocumentCoding(dates: .millisecondsSince1970)
    }

    private static let date = Date(timeIntervalSince1970: 1_795_442_709.25)

    @Test func `a model says once how its dates are stored, and documents, queries and conditions keep to it`() throws {
        let room = try TemporaryDatabase(.file)
        for n in 0..<10 {
            let reading = Reading(at: Self.date + TimeInterval(n), n: n)
            try room.database.save(
                Document(id: try DocumentID(validating: "r\(n)"), encoding: reading), onConflict: .fail)
        }
        #expect(try room.database.document("r3")?["at"] == 1_795_442_712_250)
        #expect(try room.database.document("r3")?.decode(Reading.self) == Reading(at: Self.date + 3, n: 3))
        let late = try room.database.find(DocumentQuery<Reading>().where { $0.at >= Self.date + 7 })
        #expect(late.rows.map(\.value.n).sorted() == [7, 8, 9])
        #expect(try JSONValue(encoding: Reading(at: Self.date, n: 1)) == ["at": 1_795_442_709_250, "n": 1])
        #expect(try JSONValue(parsing: #"{"at":1795442709250,"n":1}"#).decode(Reading.self).at == Self.date)
        // Text of another writer is read as well.
        #expect(
            try JSONValue(parsing: #"{"at":"2026-11-23T14:05:09.250Z","n":1}"#).decode(Reading.self).at == Self.date)
    }

    @Test func `a condition on dates finds the same with an index and without one`() throws {
        struct Event: Codable {
            var at: Date
        }
        let room = try TemporaryDatabase(.file)
        for n in 0..<30 {
            try room.database.save(
                Document(
                    id: try DocumentID(validating: "e\(n)"), encoding: Event(at: Self.date + TimeInterval(n * 86_400))),
                onConflict: .fail)
        }
        let query = DocumentQuery<Event>().where { $0.at > Self.date + 20 * 86_400 && $0.at <= Self.date + 25 * 86_400 }
        let scanned = try room.database.find(query).rows.map(\.id.string).sorted()
        #expect(scanned == ["e21", "e22", "e23", "e24", "e25"])
        try room.database.createIndex(on: "at")
        #expect(try room.database.find(query).rows.map(\.id.string).sorted() == scanned)
    }

    @Test func `seconds, and functions of an app, are forms too`() throws {
        let seconds = DocumentCoding(dates: .secondsSince1970)
        #expect(try JSONValue(encoding: Self.date, coding: seconds) == 1_795_442_709.25)
        #expect(try JSONValue(parsing: "1795442709.25").decode(Date.self, coding: seconds) == Self.date)
        struct Refused: Error {}
        let own = DocumentCoding(
            dates: .custom(
                encode: { .object(["year": .number(JSONNumber(Int($0.timeIntervalSince1970 / 31_556_952) + 1970))]) },
                decode: { json in
                    guard let year = json["year"]?.int else { throw Refused() }
                    return Date(timeIntervalSince1970: Double(year - 1970) * 31_556_952)
                }),
            data: .custom(
                encode: { .number(JSONNumber($0.count)) }, decode: { Data(repeating: 7, count: $0.int ?? 0) }))
        #expect(try JSONValue(encoding: [Self.date], coding: own) == [["year": 2026]])
        #expect(throws: Refused.self) { try JSONValue.null.decode(Date.self, coding: own) }
        #expect(try JSONValue(encoding: Data([1, 2]), coding: own) == 2)
        #expect(try JSONValue.number(JSONNumber(2)).decode(Data.self, coding: own) == Data([7, 7]))
    }

    @Test func `encoders and decoders of a model see the user info`() throws {
        struct Seen: Codable, Equatable {
            var word: String
            init(word: String) { self.word = word }
            init(from decoder: any Decoder) throws {
                word = decoder.userInfo[DocumentCodingStrategyTests.key] as? String ?? "nothing"
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(encoder.userInfo[DocumentCodingStrategyTests.key] as? String ?? "nothing")
            }
        }
        let coding = DocumentCoding(userInfo: [Self.key: "hello"])
        #expect(try JSONValue(encoding: ["a": Seen(word: "x")], coding: coding) == ["a": "hello"])
        #expect(try JSONValue(parsing: #"[1]"#).decode([Seen].self, coding: coding) == [Seen(word: "hello")])
        #expect(try JSONValue(encoding: Seen(word: "x")) == "nothing")
    }

    private static let key: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "word") else { preconditionFailure("a name is a key") }
        return key
    }()
}
