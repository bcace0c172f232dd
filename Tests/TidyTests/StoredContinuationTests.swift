import Testing

/// The files that keep continuations: the kit, a clock that is set by hand, and a stand-in for Foundation's streams.
private let keepers: Set = [
    "Sources/SettlePlatform/Threads/Promise.swift", "Sources/SettleTesting/ManualClock.swift",
    "Sources/SettleHTTP/Apple/URLSessionFeed.swift",
]

/// Reports continuations that are stored outside of the kit for threads.
func continuationComplaints(in file: SourceFile) -> [Complaint] {
    guard !keepers.contains(file.path), file.text.contains("Continuation<") else { return [] }
    return file.code.enumerated().compactMap { number, line in
        guard line.contains(/\b(?:var|let|case)\b.*\b(?:Checked|Unsafe)Continuation</) else { return nil }
        return file.complaint(number + 1, "wait by a `Promise`, a `Bell` or a `BytePipe`, which keep continuations")
    }
}

struct StoredContinuationTests {
    @Test func `only the kit for threads stores continuations`() {
        expectNone(Repository.shared.sources.flatMap(continuationComplaints))
    }

    @Test(arguments: [
        ("var waiting: [CheckedContinuation<Void, Never>] = []", 1),
        ("case wanted(UnsafeContinuation<Int, Never>)", 1),
        ("// let a: CheckedContinuation<Void, Never>", 0),
        ("await withCheckedContinuation { continuation in", 0),
    ])
    func `a stored continuation is found`(text: String, count: Int) {
        #expect(continuationComplaints(in: SourceFile(path: "Sources/T/A.swift", text: text)).count == count)
    }
}
