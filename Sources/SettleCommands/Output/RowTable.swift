internal import Settle

/// Prints rows of views in columns. They are as wide as the first rows need, and on a terminal no wider than the
/// terminal.
struct RowTable {
    private let console: Console
    private let titles: [String]
    private var waiting: [[String]] = []
    private var grid: Grid?
    /// The number of rows.
    private(set) var count = 0

    /// The number of rows that determine the widths.
    private static let sample = 200

    init(_ console: Console, titles: [String]) {
        self.console = console
        self.titles = titles
    }

    /// Adds a row, with a cell for each title.
    mutating func add(_ cells: [String]) throws {
        count += 1
        let cells = cells.map(TextWidth.harmless)
        if let grid { return try print(cells, grid) }
        waiting.append(cells)
        if waiting.count == Self.sample { try begin() }
    }

    /// Prints the remaining rows.
    mutating func finish() throws {
        if grid == nil, !waiting.isEmpty { try begin() }
    }

    private mutating func begin() throws {
        let rows = [titles] + waiting
        var widths = titles.indices.map { column in rows.map { TextWidth.of($0[column]) }.max() ?? 0 }
        if console.terminal.isTerminal {
            // The widest column is narrowed first.
            let room = max(console.width - Grid.gap * (widths.count - 1), widths.count * 8)
            while widths.reduce(0, +) > room, let widest = widths.max(), let column = widths.firstIndex(of: widest) {
                widths[column] -= 1
            }
        }
        var made = Grid(widths: widths)
        made.longestCell = 3
        grid = made
        try console.print(console.styled(Self.line(titles, widths), .bold))
        for row in waiting { try print(row, made) }
        waiting = []
    }

    private func print(_ cells: [String], _ grid: Grid) throws {
        guard console.terminal.isTerminal else { return try console.print(Self.line(cells, grid.widths)) }
        for line in grid.lines(cells.map { Grid.Cell($0) }) { try console.print(line) }
    }

    /// A line without trailing blanks.
    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            line += cell
            if index < cells.count - 1 {
                line += String(repeating: " ", count: max(widths[index] - TextWidth.of(cell), 0) + Grid.gap)
            }
        }
        return line
    }
}
