internal import SettleCore
internal import SettleDatabase

/// Settles the conflict of one document for a user: asks the validation functions about every planned write, then writes all.
///
///     leaves ─→ preview ─→ functions are asked ─→ one transaction: the same leaves? the same functions? ─→ written
///        ↑                                                          │ no
///        └──────────────────────────────────────────────────────────┘
///
/// The plan is a pure function of the leaves, so what was asked about is what is written, and a dry run shows its revisions.
struct PlannedSettlement {
    let context: RequestContext
    let database: Database
    let id: DocumentID
    let policy: ConflictPolicy
    /// The leaves that somebody has seen; `nil` if any will do.
    var seen: Set<RevisionID>?

    /// How often it is tried while others write the same document.
    private static let attempts = 24

    /// A write that a validation function refuses.
    struct Refusal {
        let revision: RevisionID
        let error: HTTPError
    }

    /// The leaves are not those that were seen.
    struct Changed: Error {
        let leaves: [RevisionID]
    }

    /// What would be written, and which of it would be refused; `nil` if there is nothing to settle.
    func rehearse() throws -> (preview: SettlementPreview, refusals: [Refusal])? {
        guard let preview = try preview() else { return nil }
        return (preview, try refusals(of: preview, ValidationScripts(context)))
    }

    /// Settles the conflict.
    ///
    /// - Throws: ``HTTPError`` with the status of the first refusal; ``Changed``; ``DatabaseError``.
    func settle() throws -> Settlement {
        var settlement = Settlement(id, .nothing)
        var attempts = 0
        while let preview = try preview() {
            attempts += 1
            guard attempts <= Self.attempts else {
                throw DatabaseError(.conflict, "\"\(id)\" is written by others all the time")
            }
            guard preview.plan.survivor != nil else {
                settlement.add(preview, by: policy)
                break
            }
            let scripts = try ValidationScripts(context)
            if let refusal = try refusals(of: preview, scripts).first {
                throw HTTPError(
                    refusal.error.status, refusal.error.error, "\(refusal.error.reason) (\(refusal.revision))")
            }
            do {
                let check = WriteCheck(designEpoch: scripts.age, question: nil)
                guard try database.carryOut(preview, by: policy, asking: check) else { continue }
            } catch is WriteCheck.IsOld { continue }
            settlement.add(preview, by: policy)
            settlement.wrote(preview.plan)
            context.metrics.wroteDocuments(preview.plan.writes.count)
            // Racing answers are settled on the way to the decision.
            if preview.decision != nil { break }
        }
        return settlement
    }

    private func preview() throws -> SettlementPreview? {
        if let seen {
            let leaves = try database.conflict(of: id)?.revisions ?? []
            guard Set(leaves) == seen else { throw Changed(leaves: leaves) }
        }
        return try database.preview(id, using: policy)
    }

    /// What the functions refuse; each is asked about a write on the leaf that it is written on.
    private func refusals(of preview: SettlementPreview, _ scripts: ValidationScripts) throws -> [Refusal] {
        guard !scripts.isEmpty, !id.isDesign else { return [] }
        let writes = preview.plan.writes
        let lookup = DocumentLookup(source: database)
        var options = DocumentOptions()
        options.hasRevisions = true
        let printer = DocumentPrinter(source: database, options: options)
        return try writes.flatMap { write -> [Refusal] in
            let found = try lookup.find(.revision(write.parent), of: id)
            let old = try found.map {
                try printer.print($0.revision, $0.content, of: $0.record, hasMeta: false).text.bytes
            }
            let new = ScriptDocument.new(
                id, history: RevisionHistory(write.parent), isDeleted: write.isDeleted, write.body, write.attachments)
            return scripts.refusals(of: [.init(new: new, old: old)]).compactMap(\.self).map {
                Refusal(revision: write.revision, error: HTTPError($0))
            }
        }
    }
}
