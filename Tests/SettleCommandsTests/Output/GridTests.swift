import Testing

@testable import SettleCommands

struct GridTests {
    @Test func `a long cell continues on the next line`() {
        let grid = Grid(widths: [5, 8, 4])
        let lines = grid.lines([Grid.Cell("a"), Grid.Cell("one two three"), Grid.Cell("x")])
        #expect(lines == ["a      one two   x", "       three"])
    }

    @Test(arguments: [
        ("one two three", 8, ["one two", "three"]), ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("[1,2,3,4]", 5, ["[1,2,", "3,4]"]), ("", 5, [""]), ("日本語", 4, ["日本", "語"]), ("語", 1, ["語"]),
        (" a", 1, [" ", "a"]),
    ])
    func `text is broken after blanks and commas, or where it must be`(text: String, width: Int, lines: [String]) {
        #expect(Grid.wrapped(text, width: width) == lines)
    }

    @Test func `text that is too long ends in dots`() {
        #expect(Grid.wrapped("one two three four", width: 6, limit: 2) == ["one", "two t…"])
        #expect(Grid.wrapped("one two", width: 7, limit: 1) == ["one two"])
    }

    @Test(arguments: [
        ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🙂", 2), ("👩‍👩‍👧", 2), ("\u{200B}", 0), ("한", 2), ("→", 1),
    ])
    func `the width of letters is that of a terminal`(text: String, width: Int) {
        #expect(TextWidth.of(text) == width)
    }

    @Test func `styles enclose texts and not gaps`() {
        let grid = Grid(widths: [3, 3]) { "<\($0)|\($1.rawValue)>" }
        #expect(grid.lines([Grid.Cell("a", .bold), Grid.Cell("b")]) == ["<a|1>    b"])
    }
}
