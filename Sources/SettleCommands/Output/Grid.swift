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

    /// Text wrapped to a width, broken after blanks and commas where possible; the last line ends in `…` if there would be more
    /// than `limit` lines.
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

    /// The longest prefix that fits; one letter at least.
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
