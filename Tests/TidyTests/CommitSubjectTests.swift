import Testing

private let longestSubject = 72
private let thisFile = "Tests/TidyTests/CommitSubjectTests.swift"

/// Reports the lines of `git log --format='%h %s'` whose subject is too long.
func commitSubjectComplaints(_ log: String) -> [String] {
    log.split(separator: "\n").map { String($0) }.compactMap { line in
        let subject = line.drop { $0 != " " }.dropFirst()
        guard subject.count > longestSubject else { return nil }
        return "a subject of \(subject.count) characters, more than \(longestSubject): \(line)"
    }
}

struct CommitSubjectTests {
    /// Looks at the commit that added this file and at those after it. A copy without its history has nothing to look at.
    @Test func `the first lines of commits are short`() {
        let repository = Repository.shared
        let added = repository.git(["log", "--diff-filter=A", "--format=%H", "--", thisFile]) ?? ""
        guard let first = added.split(separator: "\n").last else { return }
        for commits in [["-1", "\(first)"], ["\(first)..HEAD"]] {
            let log = repository.git(["log", "--no-merges", "--format=%h %s"] + commits) ?? ""
            for complaint in commitSubjectComplaints(log) { Issue.record("\(complaint)") }
        }
    }

    @Test func `a long subject is found`() {
        let short = String(repeating: "ä", count: longestSubject)
        #expect(commitSubjectComplaints("abc \(short)\ndef \(short)\n").isEmpty)
        let found = commitSubjectComplaints("abc Short\n0123456 \(short)x\n")
        #expect(found == ["a subject of 73 characters, more than 72: 0123456 \(short)x"])
        #expect(commitSubjectComplaints("").isEmpty)
    }
}
