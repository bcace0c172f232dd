import Testing

/// A text file of the repository, with its lines and, for Swift, the code in them.
struct SourceFile {
    let path: String
    let text: String

    /// The lines as written.
    let lines: [String]

    /// The same lines with the contents of comments, strings and quoted identifiers blanked out.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = SourceFile.split(text)
        code = path.hasSuffix(".swift") ? SourceFile.split(codeOnly(text)) : lines
    }

    /// The file's name without folders and without extension.
    var baseName: String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init) ?? name
    }

    /// The target of a file in `Sources`.
    var target: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    func complaint(_ line: Int, _ advice: String) -> Complaint {
        Complaint(path: path, line: line, advice: advice)
    }

    private static func split(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}

extension SourceFile: CustomTestStringConvertible {
    /// A failed expectation prints the path, and not the text.
    var testDescription: String { path }
}
