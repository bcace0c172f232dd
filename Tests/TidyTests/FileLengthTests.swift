import Testing

/// A longer file must give the reason in its first lines.
private let longest = 500

/// Reports a file that is too long and gives no reason.
func lengthComplaints(in file: SourceFile) -> [Complaint] {
    let hasReason = file.lines.prefix(5).contains { line in
        line.hasPrefix("// Length:") && line.count > "// Length: ".count
    }
    guard file.lines.count > longest, !hasReason else { return [] }
    let advice = "\(file.lines.count) lines, more than \(longest): split it, or say why not in a line `// Length: …`"
    return [file.complaint(1, advice)]
}

struct FileLengthTests {
    @Test func `every file is short`() {
        let sources = Repository.shared.sources
        let lengths = sources.map(\.lines.count).sorted()
        if let last = lengths.last {
            print("Sources: \(lengths.count) files, median \(lengths[lengths.count / 2]) lines, longest \(last)")
        }
        expectNone(sources.flatMap(lengthComplaints))
    }

    @Test(arguments: [
        ("", 500, true),
        ("", 501, false),
        ("// Length: one state machine, and its table is half of it.\n", 600, true),
        ("// Length:\n", 600, false),
        ("\n\n\n\n\n// Length: too far down.\n", 600, false),
    ])
    func `only length without a reason counts`(head: String, lines: Int, isFine: Bool) {
        let file = SourceFile(path: "Sources/A/A.swift", text: head + String(repeating: "\n", count: lines))
        #expect(lengthComplaints(in: file).isEmpty == isFine)
    }
}
