/// Lines of two columns.
enum Columns {
    /// A document's id in a list printed line by line, padded so that the following text usually aligns.
    static func padded(_ id: String) -> String { id + String(repeating: " ", count: max(24 - id.count, 0)) }

    /// Each pair on a line, with the second parts aligned.
    static func aligned(_ rows: [(String, String)], indent: Int = 0) -> [String] {
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, value in
            let gap = String(repeating: " ", count: width - name.count + 2)
            return String(repeating: " ", count: indent) + name + gap + value
        }
    }

    /// Text in paragraphs, wrapped to a width.
    static func wrapped(_ text: String, width: Int, indent: Int = 0) -> [String] {
        let margin = String(repeating: " ", count: indent)
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { paragraph -> [String] in
            if paragraph.hasPrefix("  ") { return [margin + paragraph] }
            var lines = [""]
            for word in paragraph.split(separator: " ") {
                let line = lines[lines.count - 1]
                if !line.isEmpty, indent + line.count + 1 + word.count > width {
                    lines.append(String(word))
                } else {
                    lines[lines.count - 1] = line.isEmpty ? String(word) : "\(line) \(word)"
                }
            }
            return lines.map { $0.isEmpty ? "" : margin + $0 }
        }
    }
}
