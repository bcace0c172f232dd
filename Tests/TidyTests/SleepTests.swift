import Testing

/// A call in a test that waits for a time instead of an event.
private struct Pause {
    let file: SourceFile
    let line: Int

    /// The time in milliseconds; `nil` if the line does not say it as a number.
    var milliseconds: Double? { pauseTime(in: file.lines[line]) }

    /// Whether a comment just before the call gives a reason.
    var hasReason: Bool {
        file.lines[..<line].suffix(2).contains { $0.drop { $0 == " " }.hasPrefix("//") }
    }
}

/// The time that a line waits for, in milliseconds; with a random one the longest.
private func pauseTime(in line: String) -> Double? {
    func number(_ text: Substring) -> Double? { Double(text.filter { $0 != "_" }) }
    if let match = line.firstMatch(of: /usleep\((?:UInt32\.random\(in: 0\.\.<)?([0-9_]+)/) {
        return number(match.1).map { $0 / 1000 }
    }
    if let match = line.firstMatch(of: /\.milliseconds\(([0-9_.]+)\)/) { return number(match.1) }
    if let match = line.firstMatch(of: /(?:time\.sleep\(|forTimeInterval: |\.seconds\(|\bsleep[ (])([0-9_.]+)/) {
        return number(match.1).map { $0 * 1000 }
    }
    return nil
}

/// The lines of a file that wait for a time, also in scripts inside of strings.
private func pauses(in file: SourceFile) -> [Pause] {
    // Searching the whole text first is fast, because nearly every file has no match.
    guard file.text.contains("sleep") else { return [] }
    return file.lines.enumerated().compactMap { number, line in
        let isCall =
            line.contains(/\b(?:usleep|nanosleep|Task\.sleep|Thread\.sleep|time\.sleep)\(/)
            || line.contains(/(?:^|[^.\w])sleep(?:\(| [0-9])/) && !line.contains("func sleep(")
        guard isCall, !line.drop(while: { $0 == " " }).hasPrefix("//") else { return nil }
        return Pause(file: file, line: number)
    }
}

/// The lines of a file that let all other tasks go first, in a loop of a hundred rounds or more.
private func manyTurns(in file: SourceFile) -> [Int] {
    guard file.text.contains("Task.yield()") else { return [] }
    return file.lines.indices.filter { line in
        guard file.lines[line].contains("Task.yield()") else { return false }
        return file.lines[...line].suffix(3).contains { text in
            guard let match = text.firstMatch(of: /for .* in [0-9]+\.\.[.<]([0-9_]+)/) else { return false }
            return Int(match.1.filter { $0 != "_" }).map { $0 >= 100 } ?? true
        }
    }
}

/// Sleeps in tests. One that lets something happen fails on a slow machine, and one before the expectation that nothing
/// happened passes on a slow machine.
struct SleepTests {
    /// The longest sleep that needs no place in the list, in milliseconds.
    private static let short = 20.0

    /// The files with longer sleeps, with the number of these.
    private static let long = [
        "Tests/CrashTool/Driver.swift": 1,
        "Tests/SettleDatabaseTests/Store/SuspensionTests.swift": 1,
        "Tests/SettleImportTests/MigrationKillTests.swift": 1,
        "Tests/SettleReplicationTests/HTTP/HTTPFaultTests.swift": 2,
        "Tests/SettleScriptingTests/SlowScriptTests.swift": 1,
    ]

    private static let advice = "wait for an event with `waitUntil` or `eventually`, or let a `ManualClock` advance"

    private static let turns = "thousands of tasks of other tests come before each turn, so use fewer, or a time"

    private var testFiles: [SourceFile] {
        Repository.shared.files.filter { file in
            // These tests have sleeps as examples, and the waits of the tests are built of them.
            file.path.hasSuffix(".swift") && !file.path.hasPrefix("Tests/TidyTests/")
                && file.path != "Sources/SettleTesting/Waiting.swift"
                && (file.path.hasPrefix("Tests/") || file.path.hasPrefix("Sources/SettleTesting/"))
        }
    }

    @Test func `few tests sleep for long, each with a reason`() {
        let found = testFiles.flatMap(pauses).filter { ($0.milliseconds ?? .infinity) > Self.short }
        for (path, pauses) in Dictionary(grouping: found, by: \.file.path) {
            guard pauses.count > Self.long[path, default: 0] else { continue }
            expectNone(pauses.map { $0.file.complaint($0.line + 1, Self.advice) })
        }
        expectNone(found.filter { !$0.hasReason }.map { $0.file.complaint($0.line + 1, "say why it sleeps") })
        #expect(found.count == Self.long.values.reduce(0, +), "the list names sleeps that are gone")
        #expect(found.count <= 6)
    }

    @Test func `tests have few short sleeps`() {
        let found = testFiles.flatMap(pauses).filter { ($0.milliseconds ?? .infinity) <= Self.short }
        let places = found.map { "\($0.file.path):\($0.line + 1)" }.joined(separator: "\n")
        #expect(found.count <= 12, "one more: \(Self.advice)\n\(places)")
    }

    @Test func `no test lets others go first hundreds of times`() {
        expectNone(testFiles.flatMap { file in manyTurns(in: file).map { file.complaint($0 + 1, Self.turns) } })
    }

    @Test(
        arguments: [
            ("for _ in 0..<1000 { await Task.yield() }", true), ("for _ in 0..<10 { await Task.yield() }", false),
            ("for _ in 0..<1_000 {\n    check()\n    await Task.yield()\n}", true),
            ("for _ in 0..<1000 { await store() }", false), ("await Task.yield()", false),
        ])
    func `a loop of turns is found`(text: String, isFound: Bool) {
        #expect(manyTurns(in: SourceFile(path: "Tests/A.swift", text: text)).isEmpty != isFound)
    }

    @Test(
        arguments: [
            ("usleep(100_000)", 100), ("    Thread.sleep(forTimeInterval: 0.3)", 300), ("time.sleep(2)", 2000),
            ("while true { sleep(5) }", 5000), ("sleep 0.05", 50), ("usleep(UInt32.random(in: 0..<30000))", 30),
            ("try await Task.sleep(for: .milliseconds(150))", 150), ("try await Task.sleep(for: .seconds(2))", 2000),
            ("usleep(lifetime)", nil), ("if isSlow { usleep(1000) }", 1),
        ] as [(String, Double?)])
    func `a sleep is found with its time`(line: String, milliseconds: Double?) {
        let found = pauses(in: SourceFile(path: "Tests/A.swift", text: "// A reason.\n\(line)\n"))
        #expect(found.map(\.line) == [1] && found.first?.milliseconds == milliseconds)
        #expect(found.first?.hasReason == true)
        #expect(pauses(in: SourceFile(path: "Tests/A.swift", text: line)).first?.hasReason == false)
    }

    @Test(arguments: ["// sleep(5)", "node.sleep(true)", "func sleep(_ span: Duration) {}", "clock.sleep(for: .zero)"])
    func `other lines are not sleeps`(line: String) {
        #expect(pauses(in: SourceFile(path: "Tests/A.swift", text: line)).isEmpty)
    }
}
