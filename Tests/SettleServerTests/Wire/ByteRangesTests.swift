import Testing

@testable import SettleServer

@Suite struct ByteRangesTests {
    @Test(
        arguments: [
            ("bytes=0-3", [0..<4]), ("bytes=4-", [4..<10]), ("bytes=-3", [7..<10]), ("bytes=-30", [0..<10]),
            ("bytes=0-100", [0..<10]), ("bytes=0-0, 5-6", [0..<1, 5..<7]),
        ] as [(String, [Range<Int64>])])
    func `ranges are clamped to the content`(header: String, ranges: [Range<Int64>]) throws {
        #expect(try ByteRanges.parse(header, length: 10) == ranges)
    }

    @Test(arguments: [nil, "bytes=x", "chunks=0-3", "bytes=0-", "bytes=-", "bytes=99999999999999999999-", "bytes=1"])
    func `a malformed range selects all`(header: String?) throws {
        #expect(try ByteRanges.parse(header, length: 10) == nil)
    }

    @Test(arguments: ["bytes=10-", "bytes=5-2", "bytes=20-30", "bytes=-0"])
    func `an empty range can't be satisfied`(header: String) {
        #expect(throws: HTTPError.self) { try ByteRanges.parse(header, length: 10) }
    }
}
