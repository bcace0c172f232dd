import SettlePlatform
import Testing

/// The search for a pattern in bytes.
struct ByteSearchTests {
    private func slowly(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard !pattern.isEmpty, bytes.count >= pattern.count else { return nil }
        return (start..<bytes.count).first { bytes.dropFirst($0).starts(with: pattern) }
    }

    @Test(arguments: [UInt64.random(in: 0...UInt64.max)]) func `a pattern is found where it first occurs`(seed: UInt64)
    {
        print("seed \(seed)")
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let letters = Array("ab\"-\r\n".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<random(30)).map { _ in letters[random(letters.count)] }
            let pattern = (0..<random(5)).map { _ in letters[random(letters.count)] }
            let start = random(bytes.count + 1)
            #expect(bytes.firstIndex(of: pattern, from: start) == slowly(pattern, in: bytes, from: start))
        }
    }
}
