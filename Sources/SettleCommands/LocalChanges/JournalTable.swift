internal import Settle
import SettleDatabase
internal import SettlePlatform

/// The journal as text: operations in rows, and differences of contents.
struct JournalTable {
    let width: Int
    let styled: Styled

    /// The title of the operations.
    var title: [String] {
        grid.lines(["number", "when (UTC)", "operation", "document", "old", "new"].map { Grid.Cell($0, .faint) })
    }

    /// An operation in a row.
    func lines(_ entry: JournalEntry) -> [String] {
        grid.lines([
            Grid.Cell("\(entry.number)"), Grid.Cell(Self.time(entry.time.milliseconds), .faint),
            Grid.Cell(entry.operation.rawValue, Self.style(of: entry.operation)),
            Grid.Cell(entry.documentID.string, .bold), Grid.Cell(Self.text(entry.old)),
            Grid.Cell(Self.text(entry.new)),
        ])
    }

    private var grid: Grid {
        let rest = max(width - 6 - 19 - 9 - 16 - 5 * Grid.gap, 20)
        return Grid(widths: [6, 19, 9, 16, rest / 2, rest - rest / 2], longestCell: 2, styled: styled)
    }

    static func style(of operation: JournalEntry.Operation) -> Style {
        switch operation {
        case .create: .green
        case .update: .yellow
        case .delete: .red
        }
    }

    private static func text(_ content: RevisionContent?) -> String {
        guard let content else { return "-" }
        let names = content.attachments.map(\.name).joined(separator: ", ")
        return content.body.description + (names.isEmpty ? "" : " with \(names)")
    }

    /// A time as `2026-01-02 03:04:05`.
    static func time(_ milliseconds: Int64) -> String {
        let time = WallTime(seconds: Int(milliseconds / 1000))
        return "\(time.date) \(time.clock)"
    }

    /// The pending changes of a document as a difference: removed values after `-`, new ones after `+`.
    ///
    ///     UPDATE milk
    ///       - count: 2
    ///       + count: 3
    func lines(_ change: PendingChange, from old: RevisionContent?) -> [String] {
        let name = styled(change.operation.rawValue, Self.style(of: change.operation))
        var lines = ["\(name) \(styled(change.documentID.string, .bold))"]
        func add(_ mark: String, _ name: String, _ value: JSONValue, _ style: Style) {
            lines.append("  " + styled(TextWidth.harmless("\(mark) \(name): \(value)"), style))
        }
        let before = old?.body.json.object ?? JSONObject()
        if change.operation == .delete {
            for member in before { add("-", member.name, member.value, .red) }
        }
        for attribute in change.fields {
            if let value = before[attribute.name] { add("-", attribute.name, value, .red) }
            if let value = attribute.value { add("+", attribute.name, value, .green) }
        }
        return lines
    }
}
