internal import Settle
import SettleDatabase

/// Describes what a settlement does to a document, and what is lost by it:
///
///     Deletes the document, with 4 members
///     Lost
///       2-7051cbe5…  the document
///       2-7051cbe5…  /count 2
///       2-1f0c2b77…  the removal of /note
struct EffectText {
    let effect: SettlementEffect
    let conflict: Conflict
    let width: Int
    let styled: Styled

    /// More losses than these are only counted.
    private static let longestList = 40

    /// The lines; none if the conflict is left.
    var lines: [String] {
        guard effect.outcome != .leaves else { return [] }
        let words = conflict.abbreviating(effect.words)
        let title = String(words.prefix(1)).uppercased() + String(words.dropFirst())
        let style: Style = effect.outcome == .deletes ? .red : .bold
        var lines = Columns.wrapped(title, width: width).map { styled($0, style) }
        if !effect.isBaseKnown { lines.append("The content of the base is not known, so removals are not listed.") }
        guard effect.lossCount > 0 else { return lines + ["Nothing is lost: every change is in the result."] }
        lines.append(styled("Lost", .bold))
        let shown = effect.losses.prefix(Self.longestList)
        lines += shown.map { line($0) }
        let rest = effect.lossCount - shown.count
        if rest > 0 { lines.append(styled("  and \(Quantity.grouped(rest)) more; --json has them", .faint)) }
        return lines
    }

    private func line(_ loss: SettlementEffect.Loss) -> String {
        let start = "  \(loss.leaf.abbreviated)  "
        let room = max(width - TextWidth.of(start), 20)
        return start + Grid.wrapped(Self.text(loss), width: room, limit: 1).joined()
    }

    private static func text(_ loss: SettlementEffect.Loss) -> String {
        switch loss.kind {
        case .value: "\(loss.path) \(loss.value?.description ?? "")"
        case .removal: "the removal of \(loss.path)"
        case .attachment: "the attachment \(loss.path)"
        case .deletion: "the deletion of the document"
        case .document: "the document"
        }
    }
}
