internal import Settle
import SettleDatabase

/// Describes a policy's decision, its reasons, its effect, and the revisions that it writes.
struct DecisionText {
    let policy: ConflictPolicy
    let preview: SettlementPreview
    let width: Int
    let styled: Styled
    /// Replaces the policy's own reason.
    var reason: String?

    private var conflict: Conflict { preview.conflict }

    /// The decision with its reasons, then what becomes of the document, then the revisions.
    var lines: [String] {
        let effect = EffectText(
            effect: SettlementEffect(preview), conflict: conflict, width: width, styled: styled
        ).lines
        if effect.isEmpty { return decision + [""] + writes }
        return decision + [""] + effect + [""] + writes
    }

    private var decision: [String] {
        guard let decision = preview.decision else {
            return [styled("Racing answers", .bold) + ": it was settled in several ways at once; the winner stays"]
        }
        let reason = self.reason ?? conflict.abbreviating(decision.reason)
        let outcome = preview.plan.survivor == nil ? styled("left in conflict", .red) : styled("settled", .green)
        var lines = Columns.wrapped("\(policy): \(reason)", width: width)
        lines[0] = styled(policy.description, .bold) + lines[0].dropFirst(policy.description.count)
        lines[lines.count - 1] += reason.isEmpty ? outcome : " → \(outcome)"
        guard !decision.attributes.isEmpty else { return lines }
        let paths = min(decision.attributes.map { TextWidth.of($0.path) }.max() ?? 0, max(width / 4, 8))
        let values = min(decision.attributes.map { TextWidth.of(Self.value($0)) }.max() ?? 0, max(width / 4, 12))
        let grid = Grid(
            widths: [0, paths, values, max(width - paths - values - 3 * Grid.gap, 20)], longestCell: 4, styled: styled)
        for member in decision.attributes {
            let style: Style? = member.isLeft ? .red : member.isClash ? .yellow : nil
            lines += grid.lines([
                Grid.Cell(""), Grid.Cell(member.path, .blue),
                Grid.Cell(Self.value(member), member.isLeft ? .red : .green),
                Grid.Cell(conflict.abbreviating(member.reason), style),
            ])
        }
        return lines
    }

    private static func value(_ member: AttributeDecision) -> String {
        if let result = member.result { return result.object == nil ? result.description : "{…}" }
        return member.isLeft ? "undecided" : "removed"
    }

    private var writes: [String] {
        let plan = preview.plan
        guard plan.survivor != nil else { return ["Nothing would be written; the conflict stays."] }
        if plan.writes.isEmpty { return ["Nothing would be written; \(plan.survivor?.abbreviated ?? "") stays."] }
        let rows = plan.writes.map { write in
            let what: String =
                if write.revision == plan.survivor {
                    write.isDeleted ? "deletes the document" : write.body.description
                } else {
                    "closed for \(plan.survivor?.abbreviated ?? "")"
                }
            return (write, what)
        }
        return [styled("Would write", .bold)]
            + rows.map { write, what in
                let mark = write.isDeleted ? styled("✕", .faint) : styled("●", .green)
                let start = "\(write.revision.abbreviated) on \(write.parent.abbreviated)  "
                let room = max(width - TextWidth.of(start) - 4, 20)
                return "  \(mark) \(start)\(Grid.wrapped(what, width: room, limit: 1).joined())"
            }
    }
}
