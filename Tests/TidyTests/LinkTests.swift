import Testing

/// The anchor that a heading of a Markdown text gets: `## Who may do what?` is `#who-may-do-what`.
private func anchor(of heading: Substring) -> String {
    String(
        heading.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
            .filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
    ).replacing(" ", with: "-")
}

/// The targets of the links of a line.
private func links(in line: String) -> [String] {
    line.split(separator: "](", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
        rest.firstIndex(of: ")").map { String(rest[..<$0]) }
    }
}

/// The path from the root for a link in a file: `docs/A.md` and `../B.md` give `B.md`.
private func resolved(_ link: Substring, from file: String) -> String {
    var words = file.split(separator: "/").dropLast()
    for word in link.split(separator: "/") where word != "." {
        if word == ".." { words = words.dropLast() } else { words.append(word) }
    }
    return words.joined(separator: "/")
}

/// Reports links of a Markdown file to missing files and headings.
func linkComplaints(in file: SourceFile, paths: Set<String>, files: [SourceFile]) -> [Complaint] {
    file.lines.enumerated().flatMap { number, line in
        links(in: line).compactMap { link -> Complaint? in
            guard !link.contains("://"), !link.hasPrefix("mailto:") else { return nil }
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let path = parts[0].isEmpty ? file.path : resolved(parts[0], from: file.path)
            guard paths.contains(path) || paths.contains(where: { $0.hasPrefix(path + "/") }) else {
                return file.complaint(number + 1, "there is no file \(path)")
            }
            guard parts.count == 2, path.hasSuffix(".md") else { return nil }
            let headings = files.first { $0.path == path }?.lines.filter { $0.hasPrefix("#") } ?? []
            guard !headings.contains(where: { anchor(of: $0[...]) == parts[1] }) else { return nil }
            return file.complaint(number + 1, "\(path) has no heading #\(parts[1])")
        }
    }
}

struct LinkTests {
    @Test func `links of the documentation have targets`() {
        let repository = Repository.shared
        let texts = repository.files.filter { $0.path.hasSuffix(".md") && !$0.path.contains(".docc/") }
        #expect(!texts.isEmpty)
        let paths = Set(repository.paths)
        expectNone(texts.flatMap { linkComplaints(in: $0, paths: paths, files: texts) })
    }

    @Test(arguments: [
        ("[a](B.md)", 0), ("[a](../README.md) [b](B.md#who-is-who) [c](#here)", 0), ("[a](https://a.example/#b)", 0),
        ("[a](C.md)", 1), ("[a](B.md#there)", 1), ("[a](#there) [b](B.md#here)", 2), ("[a](../docs)", 0),
    ])
    func `a broken link is found`(line: String, count: Int) {
        let file = SourceFile(path: "docs/A.md", text: "## Here\n\(line)\n")
        let other = SourceFile(path: "docs/B.md", text: "# Who is `who`?\n")
        let paths: Set = ["docs/A.md", "docs/B.md", "README.md"]
        #expect(linkComplaints(in: file, paths: paths, files: [file, other]).count == count)
    }
}
