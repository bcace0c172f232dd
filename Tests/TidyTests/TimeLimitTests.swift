import Testing

/// Times after which a test fails, and waits that have none. On a busy machine a thread may wait for a processor for seconds, and a task for
/// minutes.
struct TimeLimitTests {
    /// The shortest time that something may have to take, in seconds.
    private static let (silence, elapsed) = (5.0, 30.0)

    /// The files whose clients or servers are to lose their patience, with the number of these.
    private static let impatient = ["Tests/SettleReplicationTests/HTTP/HTTPFaultTests.swift": 2]

    private static let advice = "give it time, since other tests may have the processors for that long"

    /// The time that a line gives a request, a silence, a session, or what was read, in seconds.
    private static func patience(_ line: String) -> Double? {
        guard line.contains("imeout") || line.contains("validity"),
            let match = line.firstMatch(of: /(?:idleTimeout|sessionTimeout|\.timeout|validity)(?: =|:) (.*)/)
        else { return nil }
        return seconds(match.1)
    }

    /// The time that a line's expectation allows since an earlier moment, in seconds.
    private static func limit(_ line: String) -> Double? {
        guard line.contains("#expect"), let match = line.firstMatch(of: /(?:now - .*|\(time) <=? (.*)/) else {
            return nil
        }
        return seconds(match.1)
    }

    private static func seconds(_ text: Substring) -> Double? {
        guard let match = text.firstMatch(of: /^\.(milliseconds|seconds)\(([0-9_.]+)\)/) else { return nil }
        return Double(match.2.filter { $0 != "_" }).map { match.1 == "seconds" ? $0 : $0 / 1000 }
    }

    /// The lines of the tests with a time that is shorter.
    private static func complaints(_ shortest: Double, _ time: (String) -> Double?) -> [Complaint] {
        let files = Repository.shared.files.filter {
            // These tests have times as examples.
            $0.path.hasPrefix("Tests/") && $0.path.hasSuffix(".swift") && !$0.path.hasPrefix("Tests/TidyTests/")
        }
        return files.flatMap { file in
            file.lines.enumerated().compactMap { number, line in
                guard let found = time(line), found > 0, found < shortest else { return nil }
                return file.complaint(number + 1, advice)
            }
        }
    }

    @Test func `a request, a silence and a session may last for seconds, unless it is to end`() {
        let found = Self.complaints(Self.silence, Self.patience)
        for (path, complaints) in Dictionary(grouping: found, by: \.path) {
            guard complaints.count > Self.impatient[path, default: 0] else { continue }
            expectNone(complaints)
        }
        #expect(found.count == Self.impatient.values.reduce(0, +), "the list names times that are gone")
    }

    @Test func `what must not take long may take half a minute`() {
        expectNone(Self.complaints(Self.elapsed, Self.limit))
    }

    @Test func `no test blocks a thread until Foundation has seen the end of a process`() {
        let files = Repository.shared.files.filter {
            // The tool starts one process at a time, and these tests have the word.
            $0.path.hasPrefix("Tests/") && !["CrashTool", "TidyTests"].contains($0.path.split(separator: "/")[1])
        }
        expectNone(
            files.flatMap { file in
                file.lines.enumerated().filter { $0.element.contains("waitUntilExit") }.map {
                    file.complaint($0.offset + 1, "call `waitForEnd`")
                }
            })
    }

    @Test(
        arguments: [
            ("request.idleTimeout = .milliseconds(200)", 0.2), ("late.timeout = .seconds(2)", 2),
            ("SharedRequest(expecting: one, validity: .milliseconds(100))", 0.1), ("{ $0.idleTimeout = .zero }", nil),
            ("options.stopTimeout = .seconds(2)", nil),
        ] as [(String, Double?)])
    func `a time that is given is found`(line: String, seconds: Double?) { #expect(Self.patience(line) == seconds) }

    @Test(
        arguments: [
            ("#expect(ContinuousClock.now - begin < .seconds(20))", 20),
            ("#expect(clock.now - pressed < .milliseconds(500))", 0.5), ("#expect(time < .seconds(5), \"late\")", 5),
            ("#expect(ContinuousClock.now - start >= .seconds(1))", nil),
        ] as [(String, Double?)])
    func `an expected time is found`(line: String, seconds: Double?) { #expect(Self.limit(line) == seconds) }
}
