public import SettleCore

/// The result of an import: what it took and what it did not. A continued import reports both of its parts.
public struct ImportReport: Sendable {
    /// A part of a document that was not taken.
    public struct Fault: Sendable, Equatable {
        /// The document.
        public let id: DocumentID?
        /// The revision, if the fault is one of a revision.
        public let revision: RevisionID?
        /// The attachment, if the fault is one of an attachment.
        public let attachment: String?
        /// The cause.
        public let message: String
    }

    /// The kind of file.
    public let kind: ForeignDatabase.Kind
    /// The product and version.
    public let product: String
    /// The documents of the source, tombstones included; each revision of a dump counts as one.
    public internal(set) var documents = 0
    /// The leaf revisions that are stored now.
    public internal(set) var leaves = 0
    /// Of those, the ones that were there before.
    public internal(set) var known = 0
    /// The documents with several leaves that are not deleted. They are not counted in a dump, whose revisions come in any order:
    /// there it is 0.
    public internal(set) var conflicts = 0
    /// Whether ``conflicts`` were counted.
    private let countsConflicts: Bool
    /// The documents that were passed over, because the product had pushed them to its server.
    public internal(set) var pushed = 0
    /// The documents whose leaves are all deleted.
    public internal(set) var tombstones = 0
    /// The attachments of the leaves.
    public internal(set) var attachments = 0
    /// Their bytes, as they are stored.
    public internal(set) var attachmentBytes: Int64 = 0
    /// The local documents.
    public internal(set) var localDocuments = 0
    /// The documents that expire.
    public internal(set) var expirations = 0
    /// How many documents and revisions were not taken.
    public internal(set) var lostRevisions = 0
    /// How many attachments were not taken; their documents were.
    public internal(set) var lostAttachments = 0
    /// What was not taken, the first thousand.
    public internal(set) var notTaken: [Fault] = []
    /// How many documents show another side of a conflict than the product did.
    public internal(set) var otherWinners = 0
    /// The first thousand of them.
    public internal(set) var otherWinnerIDs: [DocumentID] = []
    /// What the source has and an import leaves out, such as views and other collections, each in a few words.
    public internal(set) var leftOut: [String] = []

    init(_ source: ForeignDatabase) {
        (kind, product) = (source.kind, source.product)
        countsConflicts = if case .reader = source.content { true } else { false }
    }

    /// Whether all documents and attachments that the import read were taken.
    public var isWhole: Bool { lostRevisions == 0 && lostAttachments == 0 }

    /// Whether a database into which all was imported may have this number of documents: those that were lost or
    /// passed over are missing, and those that expire may be gone already.
    func explains(_ stored: Int) -> Bool { stored + lostRevisions + expirations + pushed >= documents }

    mutating func record(_ fault: Fault) {
        if fault.attachment == nil { lostRevisions += 1 } else { lostAttachments += 1 }
        if notTaken.count < ImportLimits.listed { notTaken.append(fault) }
    }

    mutating func recordOtherWinner(_ id: DocumentID) {
        otherWinners += 1
        if otherWinnerIDs.count < ImportLimits.listed { otherWinnerIDs.append(id) }
    }
}

// MARK: - Continuing

extension ImportReport {
    /// The report of an import that goes on where an interrupted one ended.
    ///
    /// - Parameter json: The report of the interrupted import, as its mark has it.
    /// - Returns: The report of both, which has the source of this one; `nil` if the JSON is not that of a report.
    func continued(from json: JSONValue) -> ImportReport? {
        // A client of a server can write the mark, so numbers that could not be added to are refused.
        func number(_ name: String) -> Int? {
            json[name]?.int.flatMap { (0...Int.max / 8).contains($0) ? $0 : nil }
        }
        let counts: [(name: String, count: WritableKeyPath<ImportReport, Int>)] = [
            ("documents", \.documents), ("leaves", \.leaves), ("known", \.known), ("pushed", \.pushed),
            ("conflicts", \.conflicts), ("tombstones", \.tombstones), ("attachments", \.attachments),
            ("expirations", \.expirations), ("lost_revisions", \.lostRevisions),
            ("lost_attachments", \.lostAttachments), ("other_winners", \.otherWinners),
        ]
        var report = self
        for (name, count) in counts {
            guard let value = number(name) else { return nil }
            report[keyPath: count] = value
        }
        guard let bytes = number("attachment_bytes"), let faults = json["not_taken"]?.array,
            let winners = json["other_winner_ids"]?.array
        else { return nil }
        report.attachmentBytes = Int64(bytes)
        report.notTaken = faults.prefix(ImportLimits.listed).map { Fault($0) }
        report.otherWinnerIDs = winners.prefix(ImportLimits.listed).compactMap { winner in
            winner.string.map { DocumentID(unchecked: $0) }
        }
        return report
    }
}

extension ImportReport.Fault {
    /// Reads ``json``.
    fileprivate init(_ json: JSONValue) {
        self.init(
            id: json["id"]?.string.map { DocumentID(unchecked: $0) },
            revision: json["rev"]?.string.flatMap { RevisionID($0) }, attachment: json["attachment"]?.string,
            message: json["message"]?.string ?? "")
    }
}

// MARK: - Printing

extension ImportReport: CustomStringConvertible {
    /// The report as JSON.
    public var json: JSONValue {
        func number(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }
        return [
            "kind": .string(kind.rawValue), "product": .string(product), "documents": number(documents),
            "leaves": number(leaves), "known": number(known),
            "pushed": number(pushed), "conflicts": countsConflicts ? number(conflicts) : .null,
            "tombstones": number(tombstones), "attachments": number(attachments),
            "attachment_bytes": number(attachmentBytes), "local": number(localDocuments),
            "expirations": number(expirations), "lost_revisions": number(lostRevisions),
            "lost_attachments": number(lostAttachments), "not_taken": .array(notTaken.map(\.json)),
            "other_winners": number(otherWinners),
            "other_winner_ids": .array(otherWinnerIDs.map { .string($0.string) }),
            "left_out": .array(leftOut.map(JSONValue.string)),
        ]
    }

    /// The report as JSON, with the collection where the source has several, and with the time that the import took.
    package func json(of collection: String?, seconds: Double? = nil) -> JSONObject {
        var members = json.object ?? JSONObject()
        if let collection { members["collection"] = .string(collection) }
        if let seconds { members["seconds"] = JSONNumber(seconds).map(JSONValue.number) ?? .null }
        return members
    }

    /// The report in lines of text.
    public var description: String {
        var lines = ["\(product), \(counted(documents, "document"))"]
        var parts = [counted(leaves, "leaf revision"), counted(tombstones, "tombstone")]
        if countsConflicts { parts.insert(counted(conflicts, "conflict"), at: 1) }
        lines.append(
            """
            Imported  \(counted(documents - pushed, "document")) (\(parts.joined(separator: ", "))), \
            \(counted(attachments, "attachment")) (\(attachmentBytes) bytes), \
            \(counted(localDocuments, "local document"))
            """)
        if known > 0 { lines.append("Known     \(counted(known, "leaf revision")) before this import") }
        if pushed > 0 { lines.append("Pushed    \(counted(pushed, "document")) before, which were passed over") }
        if expirations > 0 { lines.append("Expiring  \(counted(expirations, "document"))") }
        if !isWhole {
            lines.append(
                "Not taken \(counted(lostRevisions, "revision")), \(counted(lostAttachments, "attachment"))")
            lines += notTaken.prefix(20).map { "          \($0)" }
            if lostRevisions + lostAttachments > 20 { lines.append("          …") }
        }
        if otherWinners > 0 {
            lines.append(
                """
                Look at   \(counted(otherWinners, "document")) that show another side of a conflict than before: \
                \(otherWinnerIDs.prefix(5).map(\.string).joined(separator: ", "))
                """)
        }
        if !leftOut.isEmpty { lines.append("Left out  \(leftOut.joined(separator: "; "))") }
        return lines.joined(separator: "\n")
    }
}

extension ImportReport.Fault: CustomStringConvertible {
    /// The document, the revision, the attachment, and the cause.
    public var description: String {
        let place = [id?.string, revision?.description, attachment.map { "\"\($0)\"" }].compactMap(\.self)
        return place.isEmpty ? message : "\(place.joined(separator: " ")): \(message)"
    }

    /// The place and the cause, as JSON.
    package var json: JSONValue {
        var object = JSONObject()
        if let id { object["id"] = .string(id.string) }
        if let revision { object["rev"] = .string(revision.description) }
        if let attachment { object["attachment"] = .string(attachment) }
        object["message"] = .string(message)
        return .object(object)
    }
}
