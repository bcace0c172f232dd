import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleViews

/// Bookmarks are compressed with little memory, and are the same as with more.
struct BookmarkCompressionTests {
    @Test(arguments: 1...4) func `short bookmarks compress to the bytes of the full window`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for length in 0...300 {
            // Few letters compress well, many do not.
            let letters = random.oneIn(2) ? 3 : 256
            let bytes = random.bytes(length, below: letters)
            let whole = try Deflate.compress(bytes, .raw)
            let packed = try #require(BookmarkText.compressed(bytes))
            #expect(Array(packed.dropFirst(2).dropLast(4)) == whole, "\(length) bytes, seed \(seed)")
        }
    }

    @Test(arguments: 1...4) func `URL-safe base64 equals standard base64 in another alphabet`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for length in 0...100 {
            let bytes = random.bytes(length)
            let text = Base64.encodeForURL(bytes)
            let plain = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
            #expect(Base64.encode(bytes).hasPrefix(plain) && !text.contains("="), "\(length) bytes, seed \(seed)")
            #expect(text.utf8.count == (length * 4 + 2) / 3)
            #expect(Base64.decodeFromURL(text) == bytes)
        }
        #expect(Base64.decodeFromURL("a!b") == nil && Base64.decodeFromURL("abcde") == nil)
    }
}
