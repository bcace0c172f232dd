import Settle
import SettleDatabase
import SettlePlatform
import SettleQuery
import SettleTesting
import SettleViews
import Testing

/// Bookmarks have CouchDB's form.
struct BookmarkTextTests {
    @Test func `a bookmark is written like CouchDB 3.5 does`() {
        #expect(
            BookmarkText.encode(id: "a12", key: "a12")
                == "g1AAAAA2eJzLYWBgYMpgSmHgKy5JLCrJTq2MT8lPzkzJBYozJxoagaQ4YFIwwSwAg1EOQw")
    }

    @Test func `a bookmark is read back, with any key`() throws {
        let keys: [JSONValue] = [
            nil, true, false, 0, 255, -1, 300, -70000, 1.5, -0.0, 1e300, "", "é", "x\u{0}y", [], [1, 2, 3],
            [1, 300, "a"],
            [[], [:]], ["a": ["b": nil], "c": []], .string(String(repeating: "long ", count: 500)),
            .number(try #require(JSONNumber(text: "123456789012345678901234567890"))),
            .number(try #require(JSONNumber(text: "-18446744073709551616"))),
        ]
        for key in keys {
            let text = BookmarkText.encode(id: "d é", key: key)
            let place = try #require(BookmarkText.decode(text), "\(key)")
            #expect(place.id == "d é")
            #expect(Collation.compare(place.key, key) == .same, "\(key) \(place.key)")
            #expect(!text.contains { "+/=".contains($0) })
        }
    }

    @Test(arguments: 1...8) func `random bytes are refused or read, and end`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let whole = BookmarkText.encode(id: "document", key: [["a": [1, 2.5, nil]], "text", -70000])
        for _ in 0..<400 {
            var text = Array(whole.utf8)
            for _ in 0..<(1 + random.below(3)) { text[random.below(text.count)] = UInt8(43 + random.below(80)) }
            if random.oneIn(4) { text.removeLast(random.below(text.count)) }
            _ = BookmarkText.decode(String(decoding: text, as: UTF8.self))
            // Uncompressed terms are parsed directly.
            var term: [UInt8] = [131, 108, 0, 0, 0, 2, 104, 2, 100]
            for _ in 0..<random.below(60) {
                term.append(
                    random.oneIn(2)
                        ? [97, 98, 104, 106, 107, 108, 109, 110][random.below(8)] : UInt8(random.below(256)))
            }
            _ = BookmarkText.decode(Base64.encode(term))
        }
        // More elements, or levels, than there are bytes for.
        for term: [UInt8] in [
            [131, 80, 255, 255, 255, 255, 120, 156], [131, 108, 255, 255, 255, 255, 104, 2],
            [131, 108, 0, 0, 0, 1, 104, 2, 100, 0, 1, 97, 109, 255, 255, 255, 255],
            [131, 108, 0, 0, 0, 1, 104, 2, 100, 0, 1, 97]
                + Array(repeating: [108, 0, 0, 0, 1], count: 5000).flatMap { $0 },
        ] { #expect(BookmarkText.decode(Base64.encode(term)) == nil) }
    }
}
