import SettleDatabase
import Testing

@Suite struct PageSizeTests {
    @Test func `pages have many small documents, or a single large one`() {
        var size = PageSize()
        for _ in 0..<5 { size.learn(count: size.count, bytes: size.count * 500) }
        #expect(size.count == 256)
        size.learn(count: 256, bytes: 256 * 8_000_000)
        #expect(size.count == 1)
        size.learn(count: 1, bytes: 500)
        #expect(size.count == 4)
        size.learn(count: 0, bytes: 0)
        #expect(size.count == 4)
    }
}
