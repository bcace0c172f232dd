import Testing

/// One of these words must be in the comment that justifies unchecked sharing.
private let guards = ["lock", "mutex", "queue", "atomic", "immutable"]

/// Reports unchecked sharing between threads without its lock.
func sendabilityComplaints(in file: SourceFile) -> [Complaint] {
    file.code.enumerated().compactMap { number, line in
        guard line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") else { return nil }
        let isExplained = file.lines[max(0, number - 3)...number].contains { line in
            guard let comment = line.ranges(of: "//").first else { return false }
            let words = line[comment.upperBound...].lowercased()
            return guards.contains { words.contains($0) }
        }
        guard !isExplained else { return nil }
        return file.complaint(number + 1, "name the lock that guards this, in a comment within the three lines above")
    }
}

struct SendabilityTests {
    @Test func `each unchecked Sendable names its lock`() {
        expectNone(Repository.shared.sources.flatMap(sendabilityComplaints))
    }

    @Test(arguments: [
        "final class A: @unchecked Sendable {}",
        "// Fast.\nfinal class A: @unchecked Sendable {}",
        "// Guarded by the lock `a`.\n\n\n\nfinal class A: @unchecked Sendable {}",
        "nonisolated(unsafe) var lock = 1",
    ])
    func `an unchecked Sendable without a reason is found`(text: String) {
        #expect(sendabilityComplaints(in: SourceFile(path: "Sources/T/A.swift", text: text)).count == 1)
    }

    @Test(arguments: [
        "// Guarded by the lock `a`.\nfinal class A: @unchecked Sendable {}",
        "/// Every access holds the mutex.\n@frozen\nfinal class A: @unchecked Sendable {}",
        "nonisolated(unsafe) let a = b // immutable",
        "final class A: Sendable {}",
    ])
    func `an unchecked Sendable with a reason passes`(text: String) {
        #expect(sendabilityComplaints(in: SourceFile(path: "Sources/T/A.swift", text: text)).isEmpty)
    }
}
