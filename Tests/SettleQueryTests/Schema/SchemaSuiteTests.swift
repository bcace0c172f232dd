import Foundation
import Testing

@testable import SettleQuery

/// The official suite, if it is installed; deviations are listed here with their reasons.
@Suite struct `The JSONValue Schema test suite` {
    /// The folder of the newest draft in Debian's package `json-schema-test-suite` 2.0.0.
    private static let draft7 = "/usr/share/json-schema-test-suite/tests/draft7"
    /// The folder `tests/draft2020-12` of a checkout of the suite, commit 44401e0c (2026-08-22).
    private static let draft2020 = ProcessInfo.processInfo.environment["SETTLE_JSON_SCHEMA_SUITE"] ?? ""

    private static func exists(_ folder: String) -> Bool { FileManager.default.fileExists(atPath: folder) }

    /// Draft 7 spells the unsupported keywords differently, and a reference to the draft's own schema needs the
    /// network.
    private static let refusedOfDraft7 = [
        "additionalItems: additionalItems are allowed by default": "items with an array, now prefixItems",
        "additionalItems: additionalItems as false without items": "additionalItems, now items",
        "additionalItems: additionalItems as schema": "items with an array, now prefixItems",
        "additionalItems: array of items with no additionalItems": "items with an array, now prefixItems",
        "additionalItems: items is schema, no additionalItems": "additionalItems, now items",
        "definitions: invalid definition": "$ref to the schema of draft 7",
        "definitions: valid definition": "$ref to the schema of draft 7",
        "dependencies: dependencies": "dependencies, now dependentRequired and dependentSchemas",
        "dependencies: dependencies with boolean subschemas": "dependencies, now dependentSchemas",
        "dependencies: dependencies with empty array": "dependencies, now dependentRequired",
        "dependencies: multiple dependencies": "dependencies, now dependentRequired",
        "dependencies: multiple dependencies subschema": "dependencies, now dependentSchemas",
        "items: an array of schemas for items": "items with an array, now prefixItems",
        "items: items with boolean schemas": "items with an array, now prefixItems",
        "ref: Recursive references between schemas": "$id below the root",
        "ref: relative pointer ref to array": "items with an array, now prefixItems",
        "ref: remote ref, containing refs itself": "$ref to the schema of draft 7",
        "refRemote: base URI change": "$ref to another document",
        "refRemote: base URI change - change folder": "$ref to another document",
        "refRemote: base URI change - change folder in subschema": "$ref to another document",
        "refRemote: fragment within remote ref": "$ref to another document",
        "refRemote: ref within remote ref": "$ref to another document",
        "refRemote: remote ref": "$ref to another document",
        "refRemote: root ref in remote ref": "$ref to another document",
    ]

    /// Members beside `$ref` were ignored in draft 7; since 2019-09 they count.
    private static let differentInDraft7: Set = ["ref: ref overrides any sibling keywords: ref valid, maxItems ignored"]

    /// How many groups of a file are rejected: `$id` below the root, `$ref` to another document, `$dynamicRef`, another
    /// `$schema`.
    private static let refusedOfDraft2020 = [
        "anchor": 3, "defs": 1, "dynamicRef": 20, "ref": 13, "refRemote": 15, "unevaluatedItems": 1,
        "unevaluatedProperties": 1, "vocabulary": 2,
    ]

    @Test(.enabled(if: exists(draft7), "the suite is not installed"))
    func `of draft 7 passes except where later drafts changed`() throws {
        let suite = try SchemaSuite(folder: Self.draft7)
        #expect(suite.files == 35)
        #expect(suite.passed == 357)
        #expect(Set(suite.refused.keys) == Set(Self.refusedOfDraft7.keys))
        #expect(suite.refused.values.allSatisfy { $0 == "unsupported" })
        #expect(suite.failed == Self.differentInDraft7)
    }

    @Test(.enabled(if: exists(draft2020), "SETTLE_JSON_SCHEMA_SUITE names no folder"))
    func `of draft 2020-12 passes except for unsupported keywords`() throws {
        let suite = try SchemaSuite(folder: Self.draft2020)
        #expect(suite.files == 46)
        #expect(suite.passed == 1181)
        #expect(suite.failed == [])
        #expect(suite.refused.values.allSatisfy { $0 == "unsupported" })
        let refused = Dictionary(grouping: suite.refused.keys) { String($0.prefix { $0 != ":" }) }
        #expect(refused.mapValues(\.count) == Self.refusedOfDraft2020)
    }
}
