internal import SettleCore
internal import SettleDatabase

/// A document of a database of the server, for a user: the validation functions are asked about every planned write, then all
/// are written.
///
///     leaves ─→ preview ─→ functions are asked ─→ one transaction: the same leaves? the same functions? ─→ written
///        ↑                                                          │ no
///        └──────────────────────────────────────────────────────────┘
///
/// The plan is a pure function of the leaves, so what was asked about is what is written, and a dry run shows its revisions.
struct UserSource: SettlementSource {
    /// Fewer than in the program: the functions are asked each time, and the user waits.
    let maximumAttempts = 24
    private let context: RequestContext
    private let database: Database
    private let id: DocumentID
    /// The leaves that somebody has seen; `nil` if any will do.
    private let seen: Set<RevisionID>?
    private let source: LocalSource
    private var hasWritten = false
    /// What became of the document by the last plan that was written.
    private(set) var outcome: SettlementEffect.Outcome?

    init(_ context: RequestContext, _ id: DocumentID, in database: Database, seen: Set<RevisionID>? = nil) {
        (self.context, self.database, self.id, self.seen) = (context, database, id, seen)
        source = LocalSource(id, in: database)
    }

    /// A write that a validation function refuses, or that is too large.
    struct Refusal: Error {
        let revision: RevisionID
        let error: HTTPError
    }

    /// The leaves are not those that were seen.
    struct Changed: Error {
        let leaves: [RevisionID]
    }

    var origin: UInt64 { source.origin }

    func attributesKeptOnDelete() throws -> Set<String> { try source.attributesKeptOnDelete() }

    func gaveUp(_ id: DocumentID, attempts: Int) -> DatabaseError {
        DatabaseError(.conflict, "\"\(id)\" keeps changing; try again")
    }

    /// Reads the conflict.
    ///
    /// - Throws: ``Changed``; ``DatabaseError``.
    func conflict(_ kinds: Set<ConflictKind>) throws -> Conflict? {
        // In one snapshot: the decision is about the leaves that were compared.
        try database.snapshot {
            // Once racing answers are settled on the way, the leaves are those of this run.
            if let seen, !hasWritten {
                let leaves = try database.conflict(of: id)?.revisions ?? liveLeaves()
                guard Set(leaves) == seen else { throw Changed(leaves: leaves) }
            }
            return try source.conflict(kinds)
        }
    }

    /// Writes a plan, unless the leaves or the functions have changed.
    ///
    /// - Throws: The first ``Refusal``; ``DatabaseError``.
    mutating func write(_ preview: SettlementPreview, by policy: ConflictPolicy) throws -> Bool {
        let scripts = try ValidationScripts(context)
        if let refusal = try refusals(of: preview, scripts).first { throw refusal }
        do {
            let check = WriteCheck(designEpoch: scripts.age, question: nil)
            guard try source.write(preview, by: policy, asking: check) else { return false }
        } catch is WriteCheck.IsOld { return false }
        hasWritten = true
        outcome = SettlementEffect.Outcome(preview)
        context.metrics.wroteDocuments(preview.plan.writes.count)
        return true
    }

    /// The leaves of a document that is in no conflict.
    private func liveLeaves() throws -> [RevisionID] {
        try database.tree(of: id)?.leaves.filter { !$0.isDeleted }.map(\.revision) ?? []
    }

    /// The writes that are too large, or refused by the functions; each is asked about a write on the leaf that it is
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

// MARK: - Settle

extension UserSource {
    /// Settles the conflict, and logs the user and the outcome.
    ///
    /// - Returns: The settlement, and what became of the document if something was written.
    /// - Throws: The first ``Refusal``; ``Changed``; ``DatabaseError``.
    func settle(
        by policy: ConflictPolicy
    ) throws -> (settlement: Settlement, outcome: SettlementEffect.Outcome?) {
        var run = SettlementRun(id, policy, at: self)
        let settlement = try run.settle()
        // A program that has the database open itself tells what it does.
        if let survivor = settlement.survivor, !settlement.written.isEmpty, !context.options.trustsWriters {
            context.options.log?.notice(
                "settle",
                [
                    "database": context.parameter("db"), "document": id.string, "user": context.user.name ?? "",
                    "survivor": survivor.description,
                ])
        }
        return (settlement, run.source.outcome)
    }

    /// The planned writes, and those that would be refused; `nil` if there is nothing to settle.
    ///
    /// - Throws: ``Changed``; ``DatabaseError``.
    func rehearse(by policy: ConflictPolicy) throws -> (preview: SettlementPreview, refusals: [Refusal])? {
        guard let preview = try SettlementRun(id, policy, at: self).preview() else { return nil }
        return (preview, try refusals(of: preview, ValidationScripts(context)))
    }
}
