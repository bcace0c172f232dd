import SettlePlatform
import Testing

struct DeflateTests {
    /// Bytes that compress, and that come out in several parts.
    private let content = (0..<300_000).map { UInt8(truncatingIfNeeded: ($0 * $0) >> 7) }

    private func run(
        _ stream: Deflate, _ bytes: [UInt8], pieces length: Int, _ last: Deflate.Flush = .none
    ) throws -> [UInt8] {
        var output: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let piece = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            try piece.withUnsafeBytes { piece in
                try stream.process(piece, rest.isEmpty ? last : .none) { output += $0 }
            }
        } while !rest.isEmpty
        return output
    }

    @Test(arguments: [Deflate.Format.raw, .zlib, .gzip], [1, 1000, 1 << 20])
    func `what was compressed expands to the same bytes, whatever the pieces`(
        format: Deflate.Format, length: Int
    ) throws {
        let content = length == 1 ? Array(content.prefix(3000)) : content
        let packed = try run(Deflate(.compress, format), content, pieces: length, .finish)
        #expect(packed.count < content.count)
        let stream = try Deflate(.expand, format)
        #expect(try run(stream, packed, pieces: length) == content)
        #expect(stream.isAtEnd && !stream.hasRest)
        #expect(try Deflate.expand(packed, format, limit: content.count) == content)
    }

    @Test func `the bytes do not depend on the pieces`() throws {
        let whole = try Deflate.compress(content, .gzip, level: 8)
        for length in [1000, 65_536] {
            #expect(try run(Deflate(.compress, .gzip, level: 8), content, pieces: length, .finish) == whole)
        }
    }

    @Test func `known bytes have known streams and checksums`() throws {
        let text = Array("Wikipedia".utf8)
        #expect(Deflate.adler32(text) == 0x11E6_0398)
        #expect(Deflate.adler32([]) == 1)
        #expect(Deflate.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(Deflate.crc32(Array("456789".utf8), after: Deflate.crc32(Array("123".utf8))) == 0xCBF4_3926)
        #expect(Deflate.crc32([], after: 7) == 7)
        #expect(try Deflate.compress([], .raw) == [3, 0])
        let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(try Deflate.compress([], .gzip) == gzip)
        #expect(try Deflate.expand(gzip, .gzip, limit: 0) == [])
    }

    @Test func `each flushed piece can be expanded when it comes`() throws {
        let (writer, reader) = (try Deflate(.compress, .raw, memory: 9), try Deflate(.expand, .raw))
        for length in [1, 0, 5000, 200_000, 3] {
            let piece = Array(content.prefix(length))
            let packed = try run(writer, piece, pieces: 1 << 20, .sync)
            #expect(try run(reader, packed, pieces: 1 << 20) == piece)
            #expect(!reader.isAtEnd)
        }
    }

    @Test(arguments: [7, 1 << 20])
    func `streams of gzip may follow one another, and other bytes behind them are ignored`(length: Int) throws {
        let (first, second) = (Array("first".utf8), Array("second".utf8))
        let both = try Deflate.compress(first, .gzip) + Deflate.compress(second, .gzip)
        #expect(try Deflate.expand(both, .gzip, limit: 11) == first + second)
        let stream = try Deflate(.expand, .gzip)
        #expect(try run(stream, both + [0, 1, 2] + both, pieces: length) == first + second)
        #expect(stream.isAtEnd && stream.hasRest)
    }

    @Test func `bytes that are cut or malformed are refused, and a limit is kept`() throws {
        let packed = try Deflate.compress(content, .gzip)
        #expect(try Deflate.expand(packed, .gzip, limit: content.count - 1) == nil)
        #expect(throws: Deflate.Failure.self) {
            try Deflate.expand(Array(packed.dropLast()), .gzip, limit: .max)
        }
        #expect(throws: Deflate.Failure.self) { try Deflate.expand([], .gzip, limit: .max) }
        #expect(throws: Deflate.Failure.self) { try Deflate.expand(content, .gzip, limit: .max) }
        #expect(throws: Deflate.Failure.self) { try Deflate.expand(packed, .zlib, limit: .max) }
    }

    @Test func `an error of the reader ends the work`() throws {
        struct Enough: Error {}
        let packed = try Deflate.compress(content, .zlib)
        let stream = try Deflate(.expand, .zlib)
        #expect(throws: Enough.self) {
            try packed.withUnsafeBytes { try stream.process($0) { _ in throw Enough() } }
        }
    }
}
