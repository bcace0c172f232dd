import Foundation
import Settle
import Testing

@testable import SettleViews

/// Which member a property is decoded from is found by decoding the model.
struct ModelNamesTests {
    enum Color: String, Codable, CaseIterable { case red, green, blue }

    struct Inner: Codable {
        var city: String
        var zip: Int?
    }

    struct Everything: Codable {
        var text: String
        var renamed: Int
        var flag: Bool
        var ratio: Double
        var small: UInt8
        var single: Float
        var wide: Int128
        var at: Date
        var bytes: Data
        var link: URL
        var price: Decimal
        var mark: UUID
        var color: Color
        var maybe: String?
        var maybeColor: Color?
        var list: [Int]
        var names: Set<String>
        var table: [String: Inner]
        var inner: Inner
        var any: JSONValue
        var twice: String { text + text }
        var half: Int { renamed * 2 }
        var both: String { "\(renamed)\(ratio)" }

        enum CodingKeys: String, CodingKey {
            case text
            case renamed = "a.b"
            case flag, ratio, small, single, wide, at, bytes, link, price, mark, color, maybe
            case maybeColor, list, names, table, inner, any
        }
    }

    private func path<Value>(_ property: KeyPath<Everything, Value>) throws -> String {
        try ModelNames.path(of: property).get()
    }

    @Test func `each property of a model has its member, of whatever type it is`() throws {
        #expect(try path(\.text) == "text")
        #expect(try path(\.renamed) == "a\\.b")
        #expect(try path(\.flag) == "flag")
        #expect(try path(\.ratio) == "ratio")
        #expect(try path(\.small) == "small")
        #expect(try path(\.single) == "single")
        #expect(try path(\.wide) == "wide")
        #expect(try path(\.at) == "at")
        #expect(try path(\.bytes) == "bytes")
        #expect(try path(\.link) == "link")
        #expect(try path(\.price) == "price")
        #expect(try path(\.mark) == "mark")
        #expect(try path(\.color) == "color")
        #expect(try path(\.maybe) == "maybe")
        #expect(try path(\.maybeColor) == "maybeColor")
        #expect(try path(\.list) == "list")
        #expect(try path(\.names) == "names")
        #expect(try path(\.table) == "table")
        #expect(try path(\.any) == "any")
    }

    @Test func `a model inside has the path its members have in common, and each of them its own`() throws {
        #expect(try path(\.inner) == "inner")
        #expect(try path(\.inner.city) == "inner.city")
        #expect(try path(\.inner.zip) == "inner.zip")
    }

    @Test func `what is computed of members is an error, not a question about one of them`() throws {
        #expect(throws: QueryError.self) { try path(\.twice) }
        #expect(throws: QueryError.self) { try path(\.half) }
        let error = #expect(throws: QueryError.self) { try path(\.both) }
        #expect(error?.code == .unknownField)
        #expect(error?.description.contains("$0[\"name\"]") == true)
        #expect(throws: QueryError.self) { try path(\.self) }
    }

    /// A model that contains itself, twice.
    final class Tree: Codable, Sendable {
        let name: String
        let left: Tree?
        let right: Tree?
        let more: [Tree]
        init(name: String) { (self.name, left, right, more) = (name, nil, nil, []) }
    }

    @Test func `a model that contains itself ends`() throws {
        #expect(try ModelNames.path(of: \Tree.name).get() == "name")
    }

    /// Refuses made-up values, so that it lists what it wants to be asked about.
    struct Checked: Queryable {
        var size: Int
        var name: String
        static let fieldNames: [QueryFieldPath<Checked>: String] = [\.size: "sz"]
        enum CodingKeys: CodingKey { case sz, name }
        struct TooSmall: Error {}
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            size = try container.decode(Int.self, forKey: .sz)
            name = try container.decode(String.self, forKey: .name)
            guard size > 10 else { throw TooSmall() }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(size, forKey: .sz)
            try container.encode(name, forKey: .name)
        }
    }

    @Test func `a model that refuses made-up values lists its names, and the error says so`() throws {
        #expect(try ModelNames.path(of: \Checked.size).get() == "sz")
        let error = #expect(throws: QueryError.self) { try ModelNames.path(of: \Checked.name).get() }
        #expect(error?.description.contains("TooSmall") == true)
        #expect(error?.description.contains("Checked.fieldNames") == true)
    }
}
