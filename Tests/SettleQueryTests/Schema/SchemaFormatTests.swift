import Foundation
import SettleCore
import Testing

@testable import SettleQuery

@Suite struct SchemaFormatTests {
    /// The folder of the formats in Debian's package `json-schema-test-suite`, for the newest draft it has.
    private static let folder = "/usr/share/json-schema-test-suite/tests/draft7/optional/format"

    /// Unsupported formats, each of which would need Unicode tables or a grammar of its own.
    private static let refused: Set = ["idn-email", "idn-hostname", "iri", "iri-reference", "uri-template"]

    @Test(.enabled(if: FileManager.default.fileExists(atPath: folder), "the suite is not installed"))
    func `the cases of the JSONValue Schema test suite pass`() throws {
        let suite = try SchemaSuite(folder: Self.folder, checksFormats: true)
        #expect(suite.failed.isEmpty)
        #expect(Set(suite.refused.keys.map { String($0.prefix { $0 != ":" }) }) == Self.refused)
        #expect(suite.passed >= 70)
    }

    @Test func `a format is not asserted unless this is switched on`() throws {
        #expect(try JSONSchema(["format": "date"]).problems(in: "x").isEmpty)
        #expect(try JSONSchema(["format": "nope"]).problems(in: "x").isEmpty)
        let problems = try JSONSchema(["properties": ["d": ["format": "date"]]], checksFormats: true)
            .problems(in: ["d": "2023-02-29"])
        #expect(problems.map(\.description) == ["/d: format: is not of the format date: 2023-02-29"])
        #expect(try JSONSchema(["format": "date"], checksFormats: true).problems(in: 5).isEmpty)
        #expect(throws: SchemaError.self) { try JSONSchema(["format": "nope"], checksFormats: true) }
        #expect(throws: SchemaError.self) { try JSONSchema(["format": 5], checksFormats: true) }
    }

    @Test(arguments: [
        ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380", true), ("uuid", "2eb8aa08aa9811eab4aa73b441d16380", false),
        ("time", "23:59:60Z", true), ("time", "22:59:60Z", false), ("time", "01:29:60+01:30", true),
        ("time", "12:00:00", false), ("ipv4", "1.2.3.04", false), ("email", "a..b@example.com", false),
        ("email", "\"a b\"@example.com", true), ("uri", "http://a/%zz", false), ("hostname", "", false),
        ("relative-json-pointer", "01", false), ("relative-json-pointer", "-1", false), ("ipv6", "::1%eth0", false),
    ])
    func `further cases pass`(format: String, text: String, isAllowed: Bool) throws {
        let schema = try JSONSchema(["format": .string(format)], checksFormats: true)
        #expect(schema.problems(in: .string(text)).isEmpty == isAllowed)
    }
}
