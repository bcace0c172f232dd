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

    /// A write that a validation function refuses, or that is too large.
    struct Refusal: Error {
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
    /// - Throws: The first ``Refusal``; ``Changed``; ``DatabaseError``.
    func settle() throws -> Settlement {
        var settlement = Settlement(id, .nothing)
        var attempts = 0
        // Once racing answers are settled on the way, the leaves are those of this call.
        while let preview = try preview(isFirst: settlement.written.isEmpty) {
            attempts += 1
            guard attempts <= Self.attempts else {
                throw DatabaseError(.conflict, "\"\(id)\" is written by others all the time")
            }
            guard preview.plan.survivor != nil else {
                settlement.add(preview, by: policy)
                break
            }
            let scripts = try ValidationScripts(context)
            if let refusal = try refusals(of: preview, scripts).first { throw refusal }
            do {
                let check = WriteCheck(designEpoch: scripts.age, question: nil)
                guard try database.carryOut(preview, by: policy, asking: check) else { continue }
            } catch is WriteCheck.IsOld { continue }
            settlement.add(preview, by: policy)
            settlement.wrote(preview.plan)
            context.metrics.wroteDocuments(preview.plan.writes.count)
            if preview.decision != nil { break }
        }
        note(settlement)
        return settlement
    }

    /// Says in the log who has settled what.
    private func note(_ settlement: Settlement) {
        guard let survivor = settlement.survivor, !settlement.written.isEmpty else { return }
        context.options.log?.notice(
            "settle",
            [
                "database": context.parameter("db"), "document": id.string, "user": context.user.name ?? "",
                "survivor": survivor.description,
            ])
    }

    private func preview(isFirst: Bool = true) throws -> SettlementPreview? {
        if isFirst, let seen {
            let leaves = try database.conflict(of: id)?.revisions ?? liveLeaves()
            guard Set(leaves) == seen else { throw Changed(leaves: leaves) }
        }
        return try database.preview(id, using: policy)
    }

    /// The leaves of a document that is in no conflict.
    private func liveLeaves() throws -> [RevisionID] {
        try database.tree(of: id)?.leaves.filter { !$0.isDeleted }.map(\.revision) ?? []
    }

    /// What is too large for a document, or refused by the functions; each is asked about a write on the leaf that it is
    /// written on.
    private func refusals(of preview: SettlementPreview, _ scripts: ValidationScripts) throws -> [Refusal] {
        let writes = preview.plan.writes
        let large = writes.filter { $0.body.utf8.count > context.largestDocument }
        guard large.isEmpty else {
            return large.map { Refusal(revision: $0.revision, error: .documentTooLarge(id.string)) }
        }
        guard !scripts.isEmpty, !id.isDesign else { return [] }
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
