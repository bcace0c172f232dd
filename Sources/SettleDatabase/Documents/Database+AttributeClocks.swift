internal import SettleCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Database {
    /// Whether each save stamps the members that it changes with a clock; off by default.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `closed`.
    public func attributeClocks() throws -> Bool { try engine.read { try clocks.isOn($0) } }

    /// Sets whether each save stamps the members that it changes with a clock, by which
    /// ``ConflictPolicy/latestAttributeWins`` decides. The setting is stored in the database.
    ///
    /// The clocks are in the document, in the member `$clocks`, and replicate through any CouchDB. The same edit
    /// made on two devices creates two revisions, because their clocks differ. Switching it on affects later saves;
    /// after it is switched off, documents keep their clocks.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`, `diskFull` or `closed`.
    public func setAttributeClocks(_ areOn: Bool) throws { try engine.hold { try clocks.set(areOn, $0) } }

    /// Informs the clock of a server's time. If a wall clock differs from it by more than a minute, the wall clock
    /// is ignored from then on, until the database is closed.
    ///
    /// Replication over HTTP does this automatically; this is for apps that talk to their server in other ways.
    package func observeServerTime(_ time: Date) { clocks.hear(server: time.milliseconds) }

    /// Gives the clock the name of a device, for reproducible simulations.
    package func nameClock(_ device: String) throws { try engine.hold { try clocks.name(device, $0) } }

    /// The time by which changes are stamped, in milliseconds since 1970.
    package var clockTime: Int64 { clocks.time }
}

// MARK: - Clocks

extension DocumentEditor {
    /// The same editor without clocks, for edits that are not a user's change, such as settling.
    var withoutClocks: DocumentEditor {
        var editor = self
        editor.clocks = nil
        return editor
    }

    /// The clock of an edit; `nil` if the database does not stamp changes, and for a design document.
    func moment(of id: DocumentID) throws -> AttributeClock? { id.isDesign ? nil : try clocks?.tick(writer) }

    /// The body with the clocks of its changes against its parent.
    func stamped(
        _ body: DocumentBody, at moment: AttributeClock, on parent: RevisionID?, isDeleted: Bool,
        in record: DocumentRecord?
    ) throws -> DocumentBody {
        let others = try otherVersions(than: parent, in: record)
        let isRevived = parent.flatMap { record?.tree[$0]?.isDeleted } ?? false
        if !isDeleted, !isRevived, others.isEmpty {
            return try ClockedDocument.stamped(
                body, on: parent.flatMap { try content(of: $0, in: record)?.body }, at: moment)
        }
        var document = try clocked(parent, in: record)
        let members = body.json.object ?? JSONObject()
        if isDeleted {
            return try DocumentBody(.object(document.tombstone(keeping: members, at: moment, inSightOf: others)))
        }
        document.stamp(members, at: moment, inSightOf: others)
        return try DocumentBody(.object(document.document))
    }

    /// The other leaves of a document, whose clocks an edit must exceed.
    private func otherVersions(than parent: RevisionID?, in record: DocumentRecord?) throws -> [ClockedDocument] {
        let leaves = record?.tree.leaves ?? []
        guard leaves.count > 1 else { return [] }
        return try leaves.filter { $0.revision != parent && !$0.marks.contains(.closing) }.map {
            try clocked($0.revision, in: record)
        }
    }

    /// A revision with its clocks; an empty document for `nil`.
    func clocked(_ revision: RevisionID?, in record: DocumentRecord?) throws -> ClockedDocument {
        guard let revision, let node = record?.tree[revision] else { return ClockedDocument(JSONObject()) }
        let body = try content(of: revision, in: record)?.body
        return ClockedDocument(body?.json.object ?? JSONObject(), isDeleted: node.isDeleted)
    }
}

// MARK: - Clocks

extension RevisionContent {
    /// The content without the clocks of its changes, which are not part of an operation.
    package var withoutClocks: RevisionContent {
        // Most bodies do not contain this character, and need no search for the member.
        guard body.utf8.contains(UInt8(ascii: "$")), body[ClockedDocument.memberName] != nil,
            var members = body.json.object
        else { return self }
        members[ClockedDocument.memberName] = nil
        guard let body = try? DocumentBody(.object(members)) else { return self }
        return RevisionContent(body: body, attachments: attachments)
    }
}
