internal import Settle
import SettleReplication

/// Prints the progress of replications in lines, as text or as JSON.
struct ReplicationLines {
    let console: Console

    /// Prints an event.
    func write(_ event: ReplicationEvent, _ direction: ReplicationDirection, hasDocuments: Bool) throws {
        switch event {
        case .warning(let warning):
            console.complain(
                "settle: \(warning.message)",
                json: ["event": "warning", "kind": .string(warning.kind.name), "message": .string(warning.message)])
        case .document(let document) where hasDocuments:
            let arrow = direction == .push ? "→" : "←"
            let revisions = document.revisions.map(\.description).joined(separator: " ")
            let failure = document.error.map { ": \(Self.message($0))" } ?? ""
            try console.print(
                "\(arrow) \(document.documentID) \(revisions) \(Self.word(document.outcome))\(failure)",
                json: json(document))
        case .document: break
        }
    }

    /// Prints a status that has changed.
    func write(_ status: ReplicationStatus, _ direction: ReplicationDirection) throws {
        let reason = status.error.map { ": \($0.message)" } ?? ""
        let written = status.counts.revisionsWritten
        try console.print(
            "\(direction.rawValue) \(status.mode.rawValue), \(Quantity.of(written, "revision")) written\(reason)",
            json: [
                "event": "status", "direction": .string(direction.rawValue), "mode": .string(status.mode.rawValue),
                "completed": .number(JSONNumber(status.completed)), "total": .number(JSONNumber(status.total)),
                "written": .number(JSONNumber(written)), "error": status.error.map { .string($0.message) } ?? .null,
            ])
    }

    /// Writes the revisions that were not replicated to standard error.
    func complain(_ ledger: ReplicationLedger) {
        for entry in ledger.entries {
            let revision = entry.revision.map { " \($0)" } ?? ""
            console.complain(
                "\(entry.documentID)\(revision): \(entry.kind.rawValue): \(entry.reason)",
                json: [
                    "id": .string(entry.documentID.string), "rev": .string(entry.revision?.description ?? ""),
                    "error": .string(entry.kind.rawValue), "message": .string(entry.reason),
                    "attempts": .number(JSONNumber(entry.attempts)),
                ])
        }
        if ledger.forgotten > 0 {
            console.complain(
                "… and \(ledger.forgotten) more", json: ["forgotten": .number(JSONNumber(ledger.forgotten))])
        }
    }

    /// A short summary of a replication.
    static func summary(_ counts: ReplicationCounts) -> String {
        let failures = counts.revisionsRefused + counts.revisionsFailed + counts.revisionsGone
        var words: [String] = []
        if counts.revisionsWritten > 0 {
            words.append(
                "\(Quantity.of(counts.revisionsWritten, "revision")), \(Quantity.bytes(counts.bytesWritten))")
        }
        if failures > 0 { words.append("\(Quantity.grouped(failures)) not replicated") }
        if counts.conflictsSettled > 0 { words.append("\(Quantity.of(counts.conflictsSettled, "conflict")) settled") }
        if counts.conflictsFailed > 0 { words.append("\(Quantity.of(counts.conflictsFailed, "conflict")) not settled") }
        return words.isEmpty ? "nothing new" : words.joined(separator: ", ")
    }

    /// The same summary as JSON.
    static func json(_ counts: ReplicationCounts) -> JSONValue {
        func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
        return [
            "documents": number(counts.changesRead), "filtered": number(counts.documentsFiltered),
            "revisions": number(counts.revisionsWritten), "present": number(counts.revisionsPresent),
            "bytes": .number(JSONNumber(counts.bytesWritten)), "refused": number(counts.revisionsRefused),
            "left": number(counts.documentsLeft), "failed": number(counts.revisionsFailed),
            "gone": number(counts.revisionsGone),
            "settled": number(counts.conflictsSettled), "unsettled": number(counts.conflictsFailed),
            "resyncs": number(counts.resyncs),
        ]
    }

    private func json(_ document: DocumentReplication) -> JSONValue {
        var members: JSONObject = [
            "event": "document", "direction": .string(document.direction.rawValue),
            "id": .string(document.documentID.string),
            "revs": .array(document.revisions.map { .string($0.description) }),
            "outcome": .string(Self.word(document.outcome)),
        ]
        if document.isDeleted { members["deleted"] = true }
        members["error"] = document.error.map { .string(Self.message($0)) }
        return .object(members)
    }

    private static func word(_ outcome: DocumentReplication.Outcome) -> String {
        switch outcome {
        case .replicated: "replicated"
        case .settled: "settled"
        case .unsettled: "unsettled"
        case .failed: "failed"
        case .left: "left"
        }
    }

    private static func message(_ error: any Error) -> String {
        (error as? PeerError)?.message ?? (error as? DatabaseError)?.message ?? "\(error)"
    }
}
