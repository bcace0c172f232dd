internal import Settle
import SettleCore
import SettleDatabase

/// Shows the leaves of a conflict side by side, member by member, with their base before and a policy's result
/// after them:
///
///               base         winner       other        threeWayMerge
///               1-967a00df…  2-7051cbe5…  2-1f0c2b77…
///               ───────────  ───────────  ───────────  ─────────────
///     /count    1            2            3            2
///     /name     "Milk"       ·            "Oat milk"   "Oat milk"
///     /note     "?"          —            ·            —
///
/// A dot stands for the base's value, a dash for a missing member. Members that are equal everywhere are only counted.
/// Leaves that exceed the terminal's width are shown in several tables, each with the base and the winner.
struct ConflictTable {
    /// A column.
    private struct Side {
        let title: String
        let place: String
        /// The members; `nil` for a deletion.
        let members: JSONObject?
        let isBase: Bool
        var isResult = false
    }

    /// The width in columns.
    private let width: Int
    private let isFull: Bool
    private let styled: Styled
    private var fixed: [Side] = []
    private var others: [Side] = []
    private var result: Side?
    /// The width of most abbreviated revisions.
    private static let narrowest = 11
    private static let longestCell = 6

    /// Creates the table of a conflict, with a policy's decision if given.
    init(
        _ conflict: Conflict, preview: SettlementPreview?, width: Int, isFull: Bool = false,
        styled: @escaping Styled = { text, _ in text }
    ) {
        self.width = width
        self.isFull = isFull
        self.styled = styled
        if let base = conflict.base { fixed.append(Self.side("base", base, isBase: true)) }
        for (index, leaf) in conflict.leaves.enumerated() {
            let name = index == 0 ? "winner" : leaf.isDeleted ? "deletion" : "other"
            let title = ([name] + [conflict.side(of: leaf)].compactMap(\.self)).joined(separator: ", ")
            if index == 0 { fixed.append(Self.side(title, leaf)) } else { others.append(Self.side(title, leaf)) }
        }
        result = preview.flatMap { Self.result($0, conflict) }
    }

    private static func side(_ title: String, _ document: Document, isBase: Bool = false) -> Side {
        Side(
            title: title, place: document.revision?.abbreviated ?? "",
            members: document.isDeleted ? nil : document.comparable, isBase: isBase)
    }

    private static func result(_ preview: SettlementPreview, _ conflict: Conflict) -> Side? {
        guard let decision = preview.decision else { return nil }
        let members: JSONObject?
        switch decision.resolution {
        case .merged(let body, let attachments): members = Document.comparable(body.json, attachments)
        case .document(let document): members = document.comparable
        case .keep(let revision): members = conflict.leaf(revision).flatMap { $0.isDeleted ? nil : $0.comparable }
        case .delete: members = nil
        case .leaveConflicted: return nil
        }
        return Side(title: "result", place: "", members: members, isBase: false, isResult: true)
    }

    /// The lines of the tables.
    var lines: [String] {
        let all = fixed + others + [result].compactMap(\.self)
        var rows: [(path: String, values: [JSONValue?])] = []
        var same = 0
        collect(all.map { $0.members.map(JSONValue.object) }, all, at: "", into: &rows, &same)
        let column = Self.narrowest + Grid.gap
        let always = fixed.count + (result == nil ? 0 : 1)
        let longest = max(rows.map { TextWidth.of($0.path) }.max() ?? 0, 8)
        let paths = min(longest, max(min(width / 4, width - (always + 1) * column), 8))
        let room = width - paths - always * column
        let atOnce = max(room / column, 1)
        var lines: [String] = []
        for start in stride(from: 0, to: max(others.count, 1), by: atOnce) {
            if start > 0 { lines.append("") }
            let end = min(start + atOnce, others.count)
            let columns =
                Array(fixed.indices) + (start..<end).map { $0 + fixed.count }
                + (result == nil ? [] : [all.count - 1])
            lines += table(
                columns.map { all[$0] }, rows.map { row in (row.path, columns.map { row.values[$0] }) }, paths)
        }
        if same > 0 { lines.append(styled("\(Quantity.of(same, "other member")), the same everywhere", .faint)) }
        return lines
    }

    private func table(_ sides: [Side], _ rows: [(path: String, values: [JSONValue?])], _ paths: Int) -> [String] {
        let room = (width - paths) / max(sides.count, 1) - Grid.gap
        let widths = sides.indices.map { column in
            let texts = [sides[column].title, sides[column].place] + rows.map { text($0.values[column]) }
            return min(max(texts.map { TextWidth.of($0) }.max() ?? 0, 7), max(room, 7))
        }
        let grid = Grid(
            widths: [paths] + spread(widths, width - paths - (sides.count * Grid.gap), asWide: sides, rows),
            longestCell: isFull ? .max : Self.longestCell, styled: styled)
        var lines = grid.lines([Grid.Cell("")] + sides.map { Grid.Cell($0.title, .bold) })
        lines += grid.lines([Grid.Cell("")] + sides.map { Grid.Cell($0.place, .faint) })
        lines += grid.lines(
            [Grid.Cell("")] + grid.widths.dropFirst().map { Grid.Cell(String(repeating: "─", count: $0), .faint) })
        for (path, values) in rows {
            let base = sides.first?.isBase == true ? values.first.map { $0 } : nil
            let cells = zip(sides, values).map { cell($0, $1, base: base) }
            lines += grid.lines([Grid.Cell(path, .blue)] + cells)
        }
        return lines
    }

    /// Distributes the space that narrow columns leave to wider ones.
    private func spread(
        _ widths: [Int], _ room: Int, asWide sides: [Side], _ rows: [(path: String, values: [JSONValue?])]
    ) -> [Int] {
        var widths = widths
        let wanted = sides.indices.map { column in
            rows.map { TextWidth.of(text($0.values[column])) }.max() ?? 0
        }
        var left = room - widths.reduce(0, +)
        while left > 0,
            let column = widths.indices.filter({ widths[$0] < wanted[$0] }).min(by: { widths[$0] < widths[$1] })
        {
            widths[column] += 1
            left -= 1
        }
        return widths
    }

    private func cell(_ side: Side, _ value: JSONValue?, base: JSONValue??) -> Grid.Cell {
        if side.members == nil { return Grid.Cell(side.isResult ? "deleted" : "✕", .faint) }
        if side.isResult { return Grid.Cell(text(value), .green) }
        if side.isBase { return Grid.Cell(text(value)) }
        if let base, base == value { return Grid.Cell("·", .faint) }
        return Grid.Cell(text(value), base == nil ? nil : .yellow)
    }

    private func text(_ value: JSONValue?) -> String { value?.description ?? "—" }

    /// Collects the members that are not equal everywhere; objects are compared member by member.
    private func collect(
        _ values: [JSONValue?], _ sides: [Side], at path: String,
        into rows: inout [(path: String, values: [JSONValue?])], _ same: inout Int
    ) {
        let compared = zip(sides, values).filter { $0.0.members != nil }.map(\.1)
        let isSame = compared.dropFirst().allSatisfy { $0 == compared.first }
        if isSame, !isFull, !path.isEmpty {
            same += 1
            return
        }
        let objects = values.map { $0?.object }
        var names = JSONObject()
        for object in objects { for name in object?.names ?? [] { names[name] = .null } }
        let areObjects = zip(values, objects).allSatisfy { $0.0 == nil || $0.1 != nil }
        guard areObjects, !names.isEmpty, path.isEmpty || !isSame else {
            if !path.isEmpty { rows.append((path, values)) }
            return
        }
        for name in names.names {
            collect(objects.map { $0?[name] }, sides, at: MergePath.pointer(path, name), into: &rows, &same)
        }
    }
}

// MARK: - Summary

extension MemberDifference {
    /// A short description of differences: `changed /count, /tags and 3 more; removed /note`.
    static func summary(_ differences: [MemberDifference], limit: Int = 4) -> String {
        if differences.isEmpty { return "no member" }
        var left = limit
        return Kind.allCases.compactMap { kind in
            let paths = differences.filter { $0.kind == kind }.map(\.path)
            let shown = paths.prefix(left)
            left -= shown.count
            let hidden = paths.count - shown.count
            if shown.isEmpty { return hidden > 0 ? "\(kind.rawValue) \(hidden) more" : nil }
            let more = hidden > 0 ? " and \(hidden) more" : ""
            return "\(kind.rawValue) \(shown.joined(separator: ", "))\(more)"
        }.joined(separator: "; ")
    }
}

// MARK: - Shown

extension Document {
    /// The members, and the attachments as one more member: each described by a text.
    var comparable: JSONObject { Self.comparable(json, attachments) }

    /// Members and attachments in the form of ``comparable``.
    static func comparable(_ body: JSONValue, _ attachments: [DocumentAttachment]) -> JSONObject {
        var members = body.object ?? JSONObject()
        if !attachments.isEmpty {
            members[WireAttachment.listName] = .object(JSONObject(attachments.map { ($0.name, .string(text(of: $0))) }))
        }
        return members
    }

    private static func text(of attachment: DocumentAttachment) -> String {
        "\(attachment.contentType), \(Quantity.bytes(attachment.length)), \(attachment.digest.description.prefix(12))…"
    }
}

extension RevisionID {
    /// The generation and the first digits, for people: `3-825cb35d…`.
    var abbreviated: String { Self.abbreviated(description) }

    private static func abbreviated(_ text: String) -> String {
        let digits = text.drop { $0 != "-" }.dropFirst()
        return digits.count > 10 ? "\(text.prefix { $0 != "-" })-\(digits.prefix(8))…" : text
    }
}

extension Conflict {
    /// The text with the leaves' and the base's revisions abbreviated.
    func abbreviating(_ text: String) -> String {
        tree.revisions.reduce(text) { text, revision in
            text.replacing(revision.description, with: revision.abbreviated)
        }
    }
}
