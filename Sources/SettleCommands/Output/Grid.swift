/// Lays out cells in columns of given widths; long cells continue on the next lines.
///
///     /name    "Milk"   ·         "Oat milk"
///     /text    "Buy     "Buy      ·
///              bread"   butter"
struct Grid {
    /// A text in a style.
    struct Cell {
        let text: String
        var style: Style?

        init(_ text: String, _ style: Style? = nil) {
            self.text = text
            self.style = style
        }
    }

    /// The number of blanks between two columns.
    static let gap = 2

    /// The widths of the columns.
    let widths: [Int]
    /// The maximum number of lines of a cell.
    var longestCell = Int.max
    var styled: Styled = { text, _ in text }

    /// The lines of a row.
    func lines(_ row: [Cell]) -> [String] {
        let cells = zip(row, widths).map { Self.wrapped($0.text, width: $1, limit: longestCell) }
        return (0..<(cells.map(\.count).max() ?? 0)).map { number in
            var line = ""
            var blanks = 0
            for (column, lines) in cells.enumerated() {
                let text = number < lines.count ? lines[number] : ""
                if !text.isEmpty {
                    line += String(repeating: " ", count: blanks)
                    line += row[column].style.map { styled(text, $0) } ?? text
                    blanks = 0
                }
                blanks += widths[column] - TextWidth.of(text) + Self.gap
            }
            return line
        }
    }

    /// Text wrapped to a width, after blanks and commas where possible. If it has more than `limit` lines, the last
    /// one ends in `…`.
    static func wrapped(_ text: String, width: Int, limit: Int = .max) -> [String] {
        var lines: [String] = []
        var rest = Substring(TextWidth.harmless(text))
        while !rest.isEmpty {
            var line = prefix(of: rest, width: width)
            if line.endIndex < rest.endIndex {
                if lines.count == limit - 1 {
                    lines.append(prefix(of: rest, width: max(width - 1, 0)) + "…")
                    return lines
                }
                if let stop = line.lastIndex(where: { $0 == " " || $0 == "," }), stop > line.startIndex {
                    line = line[...stop]
                }
            }
            rest = rest[line.endIndex...]
            if rest.first == " " { rest = rest.dropFirst() }
            lines.append(line.last == " " && line.count > 1 ? String(line.dropLast()) : String(line))
        }
        return lines.isEmpty ? [""] : lines
    }

    /// The longest prefix that fits; at least one letter.
    private static func prefix(of text: Substring, width: Int) -> Substring {
        var room = width
        var end = text.startIndex
        while end < text.endIndex {
            room -= TextWidth.of(text[end])
            if room < 0, end > text.startIndex { break }
            end = text.index(after: end)
        }
        return text[..<end]
    }
}

// MARK: - Columns

/// Lines of two columns.
enum Columns {
    /// A document's id in a list that is printed line by line, padded so that the text after it usually aligns.
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

// MARK: - TextWidth

/// The width of text in a terminal's columns, which in some scripts differs from the number of letters.
enum TextWidth {
    /// The columns of a text without escape sequences.
    static func of(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The columns of one letter.
    static func of(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first, !scalar.isASCII else { return 1 }
        if character.unicodeScalars.contains(where: \.properties.isEmojiPresentation) { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// Text without control characters, which could move a terminal's cursor.
    static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
    }

    /// Ranges of scripts whose letters take two columns.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]
}
