import Testing

/// The words in back-ticks that look like names of this repository, but are not.
private let foreign: [String: String] = [
    "Allow": "a header of HTTP",
    "Atts": "in CouchDB's term of a revision",
    "ChildMetadata": "the end of a function's name in Swift's runtime",
    "ChildOffset": "the end of a function's name in Swift's runtime",
    "Lax": "a value of a cookie's attribute",
    "OldRev": "in CouchDB's term of a revision",
    "OldStart": "in CouchDB's term of a revision",
    "cX": "an escape of regular expressions",
    "contentEncoding": "a keyword of JSON Schema that is ignored",
    "contentMediaType": "a keyword of JSON Schema that is ignored",
    "embedInCode": "a rule of SwiftPM",
    "libswiftCore": "a library of Swift",
    "writeOnly": "a keyword of JSON Schema that is ignored",
]

/// This file, whose list would make its own words known.
private let thisFile = "Tests/TidyTests/DocumentNameTests.swift"

/// The folders whose files and names a document may name.
private let rooms = ["Sources/", "Tests/", "Scripts/", "Benchmarks/"]

/// Whether a byte is a letter, a digit or an underscore, by its value.
private let isNamePart: [Bool] = (0...255).map { byte in
    let letter = Unicode.Scalar(UInt8(byte))
    return letter.isASCII && (letter.properties.isAlphabetic || ("0"..."9").contains(letter) || letter == "_")
}

/// The words of a text. Byte by byte, because it reads all of the sources.
private func words(_ text: some StringProtocol) -> [String] {
    var found: [String] = []
    var text = String(text)
    text.withUTF8 { bytes in
        var start = 0
        for index in 0...bytes.count where index == bytes.count || !isNamePart[Int(bytes[index])] {
            if start < index { found.append(String(decoding: bytes[start..<index], as: UTF8.self)) }
            start = index + 1
        }
    }
    return found
}

/// The names that code uses, words in its strings, and the names of files and folders.
func names(in files: [SourceFile]) -> Set<String> {
    var found: Set<String> = []
    let endings = [".swift", ".c", ".h", ".js", ".modulemap", ".py", ".sh"]
    for file in files where file.path != thisFile && rooms.contains(where: file.path.hasPrefix) {
        found.formUnion(words(file.path))
        guard endings.contains(where: file.path.hasSuffix) else { continue }
        found.formUnion(words(file.code.joined(separator: "\n")))
        // Words of a protocol, such as keywords of JSON Schema, are in strings; a type is not.
        let quoted = file.lines.filter { $0.utf8.contains(UInt8(ascii: "\"")) }.joined(separator: "\n")
        found.formUnion(words(quoted).filter { $0.utf8.first.map { $0 > UInt8(ascii: "Z") } == true })
    }
    return found
}

/// The texts in back-ticks of a line.
private func quotes(in line: String) -> [Substring] {
    line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
        .map(\.element)
}

/// Whether a word is spelled as a type or a member is: `Revision`, `RevisionTree` or `openDatabase`.
private func looksLikeName(_ word: String) -> Bool {
    word.wholeMatch(of: /[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[a-z]+[A-Z][A-Za-z0-9]*/) != nil
}

/// Whether a word can be nothing but a type's name: it has two humps, as `RevisionTree` has.
private func hasTwoHumps(_ word: String) -> Bool { word.wholeMatch(of: /([A-Z]+[a-z0-9]+){2,}[A-Z]*/) != nil }

/// Reports names and paths in back-ticks, and names in fenced drawings, that are nowhere in the code.
func documentNameComplaints(in document: SourceFile, names: Set<String>, paths: [String]) -> [Complaint] {
    var isFenced = false
    return document.lines.enumerated().flatMap { number, line -> [Complaint] in
        func unknown(_ words: [String]) -> [Complaint] {
            words.filter { !names.contains($0) && foreign[$0] == nil }
                .map { document.complaint(number + 1, "no code has the name \($0): it has another one now") }
        }
        if line.hasPrefix("```") { isFenced.toggle() }
        if isFenced { return unknown(words(line).filter(hasTwoHumps)) }
        return quotes(in: line).flatMap { quote -> [Complaint] in
            if rooms.contains(where: quote.hasPrefix), !quote.contains(" ") {
                let path = quote.hasSuffix("/") ? quote.dropLast() : quote
                let exists = paths.contains { $0 == path || $0.hasPrefix(path + "/") }
                return exists ? [] : [document.complaint(number + 1, "there is no file \(path)")]
            }
            return unknown(words(quote).filter(looksLikeName))
        }
    }
}

struct DocumentNameTests {
    /// The records in force, and the page about the architecture.
    private var documents: [SourceFile] {
        Repository.shared.files.filter {
            $0.path == "docs/ARCHITECTURE.md" || DecisionRecord($0)?.isAccepted == true
        }
    }

    @Test func `decisions and the architecture name what is in the code`() {
        let repository = Repository.shared
        let known = names(in: repository.files)
        #expect(documents.count > 50)
        expectNone(documents.flatMap { documentNameComplaints(in: $0, names: known, paths: repository.paths) })
        let used = Set(documents.flatMap { $0.lines.flatMap(quotes).flatMap { words($0) } })
        for word in foreign.keys.sorted() where !used.contains(word) || known.contains(word) {
            Issue.record("\(word) is in no document, or in the code: take it out of `foreign`")
        }
    }

    @Test(arguments: [
        ("`RevisionTree.insert` and `openDatabase(_:)`", 0), ("`Sources/A/A.swift`, `Sources/A/` and `Sources/A`", 0),
        ("GhostTree, `GET`, `_rev`, `a b` and `revision`", 0), ("```\nRevisionTree ─→ Ghost\n```\nGhostTree", 0),
        ("`GhostTree`", 1), ("```\nGhostTree ─→ a\n```", 1), ("`Sources/A/B.swift`", 1),
        ("a `b` `RevisionTree`, `ghostName` and `Ghost`", 2),
    ])
    func `a name without code is found`(text: String, count: Int) {
        let code = SourceFile(path: "Sources/A/A.swift", text: "struct RevisionTree { func openDatabase() {} }")
        let document = SourceFile(path: "docs/A.md", text: text)
        let known = names(in: [code])
        #expect(documentNameComplaints(in: document, names: known, paths: [code.path]).count == count)
    }
}
