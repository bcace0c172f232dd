import Foundation
import Settle
import Testing

@testable import SettleViews

/// The field of a property is found from its name and the coding keys, without an instance of the model.
struct ModelNamesTests {
    enum Color: String, Codable { case red, green }

    enum Payment: Codable {
        case cash
        case card(brand: String)
    }

    struct Empty: Codable {}

    struct Inner: Codable, Identifiable {
        var id: Int
        var city: String
        var zip: Int?
        var next: [Inner]?
    }

    struct Everything: Codable, Identifiable {
        var nothing = Empty()
        var id: UUID
        var text: String
        var renamed: Int
        var swapped: Int
        var wide: Int128
        var at: Date
        var color: Color
        var payment: Payment
        var maybe: String?
        var list: [Int]
        var rest: Empty
        var table: [Color: Inner]
        var inner: Inner
        var other: Inner?
        var any: JSONValue
        var `where`: Bool
        var money: Int
        var leaf: Leaf
        var twice: String { text + text }
        var failing: Int { 100 / list[0] }
        var watched = 1 { didSet { print(watched) } }
        var transient = 1

        enum CodingKeys: String, CodingKey {
            case id, text
            case renamed = "a.b"
            case swapped = "text "
            case wide, at, color, payment, maybe, list, rest, nothing, table, inner, other, any, `where`
            case money = "$"
            case leaf, watched
        }
    }

    final class Leaf: Codable, Sendable {
        let name: String
        let more: [Leaf]
        init(name: String) { (self.name, more) = (name, []) }
    }

    private func path<Value>(_ property: KeyPath<Everything, Value>) throws -> String {
        try ModelNames.path(of: property).get()
    }

    @Test func `each stored property has the field of its coding key, of whatever type it is`() throws {
        #expect(try path(\.text) == "text")
        #expect(try path(\.renamed) == "a\\.b")
        #expect(try path(\.swapped) == "text ")
        #expect(try path(\.wide) == "wide")
        #expect(try path(\.at) == "at")
        #expect(try path(\.color) == "color")
        #expect(try path(\.payment) == "payment")
        #expect(try path(\.maybe) == "maybe")
        #expect(try path(\.list) == "list")
        #expect(try path(\.table) == "table")
        #expect(try path(\.any) == "any")
        #expect(try path(\.where) == "where")
        #expect(try path(\.money) == "\\$")
        #expect(try path(\.leaf.name) == "leaf.name")
        #expect(try ModelNames.path(of: \Leaf.name).get() == "name")
    }

    @Test func `a part has its path, and each of its properties one below`() throws {
        #expect(try path(\.inner) == "inner")
        #expect(try path(\.inner.city) == "inner.city")
        #expect(try path(\.inner.zip) == "inner.zip")
        #expect(try path(\.other) == "other")
        #expect(try path(\.other?.city) == "other.city")
        #expect(try path(\.other?.zip) == "other.zip")
        #expect(try path(\.other!.city) == "other.city")
    }

    @Test func `the id of a document's model is the document's id, and that of a part is a field`() throws {
        #expect(try path(\.id) == "_id")
        #expect(try path(\.inner.id) == "inner.id")
        #expect(try ModelNames.path(of: \Inner.id, isDocument: false).get() == "id")
        struct Foreign: Codable, Identifiable { var id: Color }
        #expect(try ModelNames.path(of: \Foreign.id).get() == "id")
    }

    @Test func `an empty property is not taken for the one at the same place, nor for another empty one`() throws {
        #expect(throws: QueryError.self) { try path(\.nothing) }
        #expect(throws: QueryError.self) { try path(\.rest) }
        struct Single: Codable {
            var nothing = Empty()
            var name: String
        }
        #expect(try ModelNames.path(of: \Single.nothing).get() == "nothing")
        #expect(try ModelNames.path(of: \Single.name).get() == "name")
    }

    @Test func `what is not stored or not coded is an error with the remedy, and no getter is called`() throws {
        for property in [
            \Everything.twice, \.failing, \.watched, \.transient, \.self, \.list[3], \.other?.next?[0].city,
            \.text.count,
            \.inner.city.isEmpty,
        ] as [PartialKeyPath<Everything>] {
            guard case .failure(let error) = ModelNames.path(of: property) else {
                Issue.record("\(property) has a path")
                continue
            }
            #expect(error.code == .unknownField)
            #expect(error.description.contains("Everything.fieldNames") && error.description.contains("$0[\"name\"]"))
        }
        let error = #expect(throws: QueryError.self) { try path(\.transient) }
        #expect(error?.description.contains("Everything has no coding key \"transient\"") == true)
    }

    @propertyWrapper struct Trimmed: Codable { var wrappedValue: String }

    /// Stops the process if it is decoded from anything but a sound document.
    struct Strict: Queryable {
        var size: Int
        var name: String
        @Trimmed var title: String
        static let fieldNames: [QueryFieldPath<Strict>: String] = [\.size: "s.z", \.title: "title"]
        enum CodingKeys: CodingKey { case sz, name, title }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            size = try container.decode(Int.self, forKey: .sz)
            precondition(size > 10)
            name = try container.decode(String.self, forKey: .name)
            title = try container.decode(String.self, forKey: .title)
        }
        func encode(to encoder: any Encoder) throws {}
    }

    @Test func `a model lists what can't be found, and its own decoding sees no made-up values`() throws {
        #expect(try ModelNames.path(of: \Strict.size).get() == "s\\.z")
        #expect(try ModelNames.path(of: \Strict.title).get() == "title")
        #expect(try ModelNames.path(of: \Strict.name).get() == "name")
    }

    /// Decodes itself by keys that are text, and by two kinds of keys.
    struct Loose: Codable {
        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        var name: String
        init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: Key(stringValue: "title"))
        }
    }

    enum Level: Codable { case low, high }

    struct Lenient: Codable {
        enum Key: String, CodingKey { case level = "l" }

        var level: Level
        init(from decoder: any Decoder) throws {
            guard let container = try? decoder.container(keyedBy: Key.self) else {
                level = .low
                return
            }
            level = try container.decode(Level.self, forKey: .level)
        }
        func encode(to encoder: any Encoder) throws {}
    }

    @Test func `keys that are not cases are not guessed, and a model may catch the error of the decoder`() throws {
        #expect(throws: QueryError.self) { try ModelNames.path(of: \Loose.name).get() }
        #expect(try ModelNames.path(of: \Lenient.level).get() == "l")
    }

    @Test func `cases of enumerations without values are known, and of no others`() {
        enum One: CodingKey { case only }
        enum None: CodingKey {}
        enum Mixed: Hashable {
            case flag(Bool)
            case none
        }
        #expect(EnumCases.all(of: One.self)?.map(\.name) == ["only"])
        #expect(EnumCases.all(of: None.self)?.isEmpty == true)
        #expect(EnumCases.all(of: Color.self)?.map(\.name) == ["red", "green"])
        #expect(EnumCases.all(of: Color.self)?.map(\.value) == [.red, .green])
        #expect(EnumCases.all(of: Mixed.self) == nil)
        #expect(EnumCases.all(of: Bool?.self) == nil && EnumCases.all(of: Int.self) == nil)
    }
}
