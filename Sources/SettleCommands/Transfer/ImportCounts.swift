internal import Settle

/// What became of the documents of an input.
struct ImportCounts: Sendable, Equatable {
    /// Stored.
    var stored = 0
    /// Of those, revisions that came with their history.
    var revisions = 0
    /// Revisions that were here already.
    var known = 0
    /// Left as they are here, because `--on-conflict skip` was given.
    var skipped = 0
    /// Not stored, with a reason.
    var failed = 0

    /// All of them.
    var total: Int { stored + known + skipped + failed }

    /// What a person wants to know.
    func summary(_ duration: Duration, bytes: Int64) -> String {
        let noun = revisions > 0 ? "revision" : "document"
        var text = "Imported \(Quantity.of(stored, noun)) in \(Quantity.duration(duration))"
        if stored > 0 { text += " (\(Quantity.rate(stored, in: duration)), \(Quantity.bytes(bytes)))" }
        if known > 0 { text += "; \(Quantity.grouped(known)) known already" }
        if skipped > 0 { text += "; \(Quantity.grouped(skipped)) skipped" }
        if failed > 0 { text += "; \(Quantity.grouped(failed)) failed" }
        return text
    }

    /// The same for programs.
    func json(_ duration: Duration, bytes: Int64) -> JSON {
        [
            "imported": .number(JSONNumber(stored)), "known": .number(JSONNumber(known)),
            "skipped": .number(JSONNumber(skipped)), "failed": .number(JSONNumber(failed)),
            "bytes": .number(JSONNumber(bytes)),
            "seconds": JSONNumber(Quantity.seconds(duration)).map(JSON.number) ?? .null,
        ]
    }
}
