import Testing

@testable import SettleCommands

struct ProgressBarTests {
    @Test(arguments: [
        (0.0, "Importing ░░░░░░░░░░░░░░░░░░░░  0%  1 of 2"),
        (0.5, "Importing ██████████░░░░░░░░░░  50%  1 of 2"),
        (1.0, "Importing ████████████████████  100%  1 of 2"),
        (7.0, "Importing ████████████████████  100%  1 of 2"),
    ])
    func `the bar's length is the completed share`(fraction: Double, line: String) {
        let shown = ProgressBar.line("Importing", fraction: fraction, "1 of 2", width: 52)
        #expect(shown.filter { $0 == "█" }.count == line.filter { $0 == "█" }.count * shown.barLength / 20)
        #expect(shown.hasPrefix("Importing ") && shown.hasSuffix("%  1 of 2"))
    }

    @Test(arguments: [0, 1, 5, 20, 30, 40, 80, 300])
    func `a line is narrower than the terminal`(width: Int) {
        let line = ProgressBar.line("Importing", fraction: 0.3, "12,345 documents  9,999/s", width: width)
        #expect(line.count <= max(width - 1, 0))
    }

    @Test func `without a known total there is no bar`() {
        #expect(ProgressBar.line("Importing", fraction: nil, "5 documents", width: 80) == "Importing  5 documents")
    }

    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 KB"), (999_949, "999.9 KB"),
        (999_950, "1.0 MB"), (34_200_000, "34.2 MB"), (-2048, "-2.0 KB"), (5_000_000_000_000, "5.0 TB"),
    ])
    func `sizes are printed in a fitting unit`(count: Int64, text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test func `numbers are printed with separators`() {
        #expect(Quantity.grouped(60_123) == "60,123")
        #expect(Quantity.grouped(-1000) == "-1,000")
        #expect(Quantity.of(1, "document") == "1 document")
        #expect(Quantity.of(0, "document") == "0 documents")
        #expect(Quantity.duration(.milliseconds(430)) == "430 ms")
        #expect(Quantity.duration(.milliseconds(2140)) == "2.1 s")
        #expect(Quantity.duration(.seconds(200)) == "3 min 20 s")
        #expect(Quantity.rate(60_000, in: .seconds(2)) == "30,000/s")
    }
}

extension String {
    fileprivate var barLength: Int { count { $0 == "█" || $0 == "░" } }
}
