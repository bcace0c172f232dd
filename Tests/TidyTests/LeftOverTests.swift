import Foundation
import Testing

// Spelled in pieces, so that this file does not find itself.
private let markers = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]
private let machineFolders = ["/" + "work/", "/" + "root/"]

/// Reports markers of unfinished work, and paths that exist on one machine only.
func leftOverComplaints(in file: SourceFile) -> [Complaint] {
    // Searching the whole text first is fast, because nearly every file has no match.
    let words = (markers + machineFolders).filter { file.text.contains($0) }
    guard !words.isEmpty else { return [] }
    return file.lines.enumerated().flatMap { number, line in
        words.compactMap { word -> Complaint? in
            guard stands(word, aloneIn: line) else { return nil }
            let advice =
                markers.contains(word)
                ? "`\(word)`: do it now, or open an issue and remove the mark"
                : "`\(word)` is a path of one machine: use a relative or temporary one"
            return file.complaint(number + 1, advice)
        }
    }
}

/// Whether a line has the word with no letter, digit or underscore directly before it, nor after it if it ends in one.
private func stands(_ word: String, aloneIn line: String) -> Bool {
    func joins(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false }
    let endsInWord = joins(word.last)
    return line.ranges(of: word).contains { range in
        let isJoinedBefore = range.lowerBound > line.startIndex && joins(line[line.index(before: range.lowerBound)])
        let isJoinedBehind = range.upperBound < line.endIndex && joins(line[range.upperBound])
        return !isJoinedBefore && !(endsInWord && isJoinedBehind)
    }
}

/// Reports loops of a Swift file that only wait for a condition: `waitUntil` ends with an error, and `SETTLE_WAIT_STEP` delays it.
func ownWaitComplaints(in file: SourceFile) -> [Complaint] {
    guard file.path.hasPrefix("Tests/"), file.text.contains("sleep(") else { return [] }
    let sleep = /^ *(?:try\?? )?(?:await )?(?:usleep|Thread\.sleep|Task\.sleep)\([^{}]*$/
    return file.lines.indices.dropFirst().dropLast().compactMap { number in
        let opening = file.lines[...number].suffix(4).dropLast()
        guard file.lines[number].contains(sleep), file.lines[number + 1].drop(while: { $0 == " " }) == "}",
            opening.last?.hasSuffix("{") == true, opening.contains(where: { $0.contains("while ") })
        else { return nil }
        return file.complaint(number, "wait with `waitUntil` or `eventually`")
    }
}

/// Reports times within which a test's thread must signal, or curl must have its answer, that a busy machine may not give it.
func shortWaitComplaints(in file: SourceFile) -> [Complaint] {
    guard file.path.hasPrefix("Tests/"), file.text.contains(".wait(timeout: ") || file.text.contains("--max-time")
    else { return [] }
    let pattern = /(?:\.wait\(timeout: \.now\(\) \+ |--max-time(?:", "| ))([0-9.]+)(?:\) == \.success|"| )/
    return file.lines.enumerated().compactMap { number, line in
        guard let match = line.firstMatch(of: pattern), let seconds = Double(match.1), seconds < 60 else { return nil }
        return file.complaint(number + 1, "wait for at least a minute: a thread may stand still for long")
    }
}

/// Reports loops that wait for a condition and go on when it holds: a `where` clause leaves iterations out and does not end the loop.
func endlessWaitComplaints(in file: SourceFile) -> [Complaint] {
    guard file.text.contains("sleep(") else { return [] }
    return file.lines.enumerated().compactMap { number, line in
        guard line.contains(/for _ in 0\.\.<.* where .*sleep\(/) else { return nil }
        return file.complaint(number + 1, "the loop goes on when its condition holds: use `waitUntil`")
    }
}

struct LeftOverTests {
    @Test func `a loop that waits ends when its condition holds`() {
        expectNone(Repository.shared.files.flatMap(endlessWaitComplaints))
        let text = "for _ in 0." + ".<9 where !isDone { usleep(1) }\nwhile !isDone { usleep(1) }\n"
        #expect(endlessWaitComplaints(in: SourceFile(path: "Tests/A.swift", text: text)).map(\.line) == [1])
    }

    @Test func `a test waits in no loop of its own`() {
        expectNone(Repository.shared.files.flatMap(ownWaitComplaints))
        let text = "while !isDone {\n    usleep(1)\n}\nwhile !isDone {\n    isDone = ask()\n    usleep(1)\n}\n"
        #expect(ownWaitComplaints(in: SourceFile(path: "Tests/A.swift", text: text)).map(\.line) == [1])
    }

    @Test func `a test gives another thread time to signal, and curl to answer`() {
        expectNone(Repository.shared.files.flatMap(shortWaitComplaints))
        let text = [20, 60].map { "#expect(isDone.wait(timeout: .now() + \($0)) == .suc" + "cess)\n" }.joined()
        #expect(shortWaitComplaints(in: SourceFile(path: "Tests/A.swift", text: text)).map(\.line) == [1])
        let curls = ["\"--max-" + "time\", \"10\"", "\"--max-time 300 \"", "curl --max-" + "time 20 x"]
        let file = SourceFile(path: "Tests/A.swift", text: curls.joined(separator: "\n"))
        #expect(shortWaitComplaints(in: file).map(\.line) == [1, 3])
    }

    @Test func `the code has no leftovers and names no machine path`() {
        expectNone(Repository.shared.files.flatMap(leftOverComplaints))
    }

    @Test(arguments: markers.map { "// \($0): later" } + machineFolders.map { "see \($0)notes" })
    func `a leftover is found`(line: String) {
        #expect(leftOverComplaints(in: SourceFile(path: "docs/A.md", text: "first\n\(line)\n")).map(\.line) == [2])
    }

    @Test(arguments: ["mktemp -d /tmp/a.XXXXXX", "the team" + "/" + "work/ folder", "METHOD" + "S", "a todo list"])
    func `a longer word passes`(line: String) {
        #expect(leftOverComplaints(in: SourceFile(path: "docs/A.md", text: line)).isEmpty)
    }
}
