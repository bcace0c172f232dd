import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleTesting
import Testing

/// Replays a recorded exchange with CouchDB on a database, and compares the answers.
///
/// It knows the steps that concern the embedded store; others are skipped.
final class DatabaseReplay {
    private let kind: DatabaseKind
    private var databases: [String: TemporaryDatabase] = [:]
    private var variables: [String: String] = [:]
    /// How many answers were compared.
    private(set) var compared = 0

    init(_ kind: DatabaseKind) { self.kind = kind }

    func run(_ step: JSONValue) throws {
        let parts = (step["path"]?.string ?? "").split(separator: "/").map { resolved(String($0)) }
        guard parts.count > 1, parts.count < 4 else { return }
        let database = try database(parts[0])
        let method = step["method"]?.string ?? ""
        let isDone = step["expect"]?["status"]?.int.map { 200...201 ~= $0 } ?? false
        switch (method, parts[1]) {
        case ("POST", "_bulk_docs"): try bulk(step, database)
        case ("POST", "_revs_diff"): try difference(step, database)
        case ("PUT", "_revs_limit") where isDone:
            try database.setRevisionLimit(Int(step["text"]?.string ?? step["json"]?.description ?? "") ?? 1000)
        case ("GET", let id) where parts.count == 2 && isDone && !id.hasPrefix("_"):
            try read(try DocumentID(validating: id), step, database)
        case ("PUT", let id) where isDone && !id.hasPrefix("_"):
            if parts.count == 3 { return try attachment(parts[2], of: id, step, database) }
            let text = step["text"]?.string ?? step["json"]?.description ?? "{}"
            if query(step, "new_edits") == "false" {
                return try insert([JSONValue(parsing: text)], id: id, in: database)
            }
            try write(JSONValue(parsing: text), id: id, step["expect"]?["json"]?["rev"]?.string, step, database)
        case ("DELETE", let id) where isDone && !id.hasPrefix("_"):
            if parts.count == 3 { return try attachment(parts[2], of: id, step, database) }
            try write(["_deleted": true], id: id, step["expect"]?["json"]?["rev"]?.string, step, database)
        default: return
        }
        if isDone { capture(step) }
    }

    func finish() throws {
        for database in databases.values { #expect(try database.database.problems() == []) }
    }

    // MARK: - Variables

    private func capture(_ step: JSONValue) {
        for member in step["capture"]?.object ?? [:] where member.value.string == "/rev" {
            variables[member.name] = step["expect"]?["json"]?["rev"]?.string
        }
    }

    private func resolved(_ text: String) -> String {
        variables.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    private func query(_ step: JSONValue, _ name: String) -> String? {
        step["query"]?[name].map { resolved($0.string ?? $0.description) }
    }

    private func database(_ name: String) throws -> Database {
        if let known = databases[name] { return known.database }
        let new = try TemporaryDatabase(kind)
        databases[name] = new
        return new.database
    }

    // MARK: - Writing

    private func bulk(_ step: JSONValue, _ database: Database) throws {
        let documents = step["json"]?["docs"]?.array ?? []
        guard step["expect"]?["status"]?.int == 201 else { return }
        if step["json"]?["new_edits"] == false { return try insert(documents, id: nil, in: database) }
        let rows = step["expect"]?["json"]?.array ?? []
        for (document, row) in zip(documents, rows) {
            guard let id = document["_id"]?.string, let revision = row["rev"]?.string else { continue }
            try write(document, id: id, revision, step, database)
        }
    }

    private func insert(_ documents: [JSONValue], id: String?, in database: Database) throws {
        for document in documents {
            guard let id = document["_id"]?.string ?? id else { continue }
            let history = try history(document)
            try database.insertReplicated([
                ReplicatedRevision(
                    id: DocumentID(validating: id), history: history, isDeleted: document["_deleted"] == true,
                    body: try members(document),
                    attachments: try attachments(document, keeping: [], history.start, database))
            ])
        }
    }

    private func history(_ document: JSONValue) throws -> RevisionHistory {
        guard let revisions = document["_revisions"] else {
            return RevisionHistory(try RevisionID(validating: resolved(document["_rev"]?.string ?? "")))
        }
        let signatures = revisions["ids"]?.array?.compactMap(\.string).map(resolved) ?? []
        return try RevisionHistory(
            start: UInt64(revisions["start"]?.int ?? 0), signatures: signatures.compactMap { RevisionSignature($0) })
    }

    private func members(_ document: JSONValue) throws -> DocumentBody {
        let kept = (document.object ?? [:]).filter { !$0.name.hasPrefix("_") }
        return try DocumentBody(.object(JSONObject(kept.map { ($0.name, $0.value) })))
    }

    private func write(
        _ json: JSONValue, id: String, _ expected: String?, _ step: JSONValue, _ database: Database
    ) throws {
        let id = try DocumentID(validating: id)
        let named = json["_rev"]?.string.map(resolved) ?? query(step, "rev")
        var document =
            try named.flatMap { try database.document(id, revision: RevisionID(validating: $0)) }
            ?? Document(id: id)
        let body = try members(json)
        let isDeleted = json["_deleted"] == true
        let saved: Document?
        if isDeleted, body != .empty {
            // The database's delete keeps members of the document, and accepts none from the request.
            guard let expected else { return }
            let revision = try RevisionID(validating: expected)
            let parent = try document.revision ?? database.tree(of: id)?.winner?.revision
            let history = try RevisionHistory(
                start: revision.generation, signatures: [revision.signature] + (parent.map { [$0.signature] } ?? []))
            try database.insertReplicated([peer(id, history, body, isDeleted: true)])
            return
        } else if isDeleted {
            saved = try database.delete(document, onConflict: .fail)
        } else {
            document.setBody(body)
            document.attachments = try attachments(
                json, keeping: document.attachments, (document.revision?.generation ?? 0) + 1, database)
            saved = try database.save(document, onConflict: .fail)
        }
        #expect(saved?.revision?.description == expected, "\(step["name"] ?? "")")
        compared += 1
    }

    private func attachment(_ name: String, of id: String, _ step: JSONValue, _ database: Database) throws {
        let id = try DocumentID(validating: id)
        let header = step["headers"]?["If-Match"]?.string.map { resolved($0.filter { $0 != "\"" }) }
        var document =
            try (query(step, "rev") ?? header).flatMap {
                try database.document(id, revision: RevisionID(validating: $0))
            } ?? Document(id: id)
        if step["method"]?.string == "DELETE" {
            document.detach(name)
        } else {
            let type = step["headers"]?["Content-Type"]?.string ?? "application/octet-stream"
            document.attach(try database.makeAttachment(name, contentType: type, content: content(of: step)))
        }
        let saved = try database.save(document, onConflict: .fail)
        #expect(saved.revision?.description == step["expect"]?["json"]?["rev"]?.string, "\(step["name"] ?? "")")
        compared += 1
        capture(step)
    }

    private func attachments(
        _ json: JSONValue, keeping old: [DocumentAttachment], _ generation: UInt64, _ database: Database
    ) throws -> [DocumentAttachment] {
        try (json["_attachments"]?.object ?? [:]).compactMap { member in
            guard let data = member.value["data"]?.string else { return old.first { $0.name == member.name } }
            return try database.makeAttachment(
                member.name, contentType: member.value["content_type"]?.string ?? "application/octet-stream",
                content: [UInt8](Data(base64Encoded: data, options: .ignoreUnknownCharacters) ?? Data()))
        }
    }

    private func content(of step: JSONValue) -> [UInt8] {
        if let text = step["text"]?.string { return Array(text.utf8) }
        if let base64 = step["base64"]?.string { return [UInt8](Data(base64Encoded: base64) ?? Data()) }
        guard let unit = step["repeat"] else { return [] }
        let bytes =
            unit["unit"]?.string.map { Array($0.utf8) }
            ?? [UInt8](Data(base64Encoded: unit["unit64"]?.string ?? "") ?? Data())
        return Array(repeatElement(bytes, count: unit["count"]?.int ?? 1).joined())
    }

    // MARK: - Reading

    private func difference(_ step: JSONValue, _ database: Database) throws {
        guard step["expect"]?["status"]?.int == 200, var asked = step["json"]?.object else { return }
        var expected = step["expect"]?["json"]?.object ?? [:]
        // Local documents have no tree to compare; the server decides whether they may be asked about.
        for name in asked.names where name.hasPrefix("_local/") {
            asked[name] = nil
            expected[name] = nil
        }
        let rows = try database.revisionsDiff(
            asked.map { member in
                let revisions = member.value.array?.compactMap(\.string).map(resolved) ?? []
                return (try DocumentID(validating: member.name), try revisions.map { try RevisionID(validating: $0) })
            })
        #expect(Set(rows.map(\.id.string)) == Set(expected.names), "\(step["name"] ?? "")")
        for row in rows {
            let answer = expected[row.id.string]
            #expect(Set(row.missing.map(\.description)) == answer?["missing"]?.unordered)
            #expect(
                Set(row.possibleAncestors.map(\.description)) == answer?["possible_ancestors"]?.unordered ?? [],
                "\(step["name"] ?? "")")
        }
        compared += 1
    }

    private static let known: Set = ["conflicts", "deleted_conflicts", "revs", "rev", "meta", "revs_info", "local_seq"]

    private func read(_ id: DocumentID, _ step: JSONValue, _ database: Database) throws {
        if query(step, "open_revs") == "all" { return try readLeaves(id, step, database) }
        guard let expected = step["expect"]?["json"], expected["_id"]?.string == id.string,
            Set(step["query"]?.object?.names ?? []).isSubset(of: Self.known)
        else { return }
        let found =
            try query(step, "rev").map { try database.document(id, revision: RevisionID(validating: $0)) }
            ?? database.document(id)
        guard let document = found else {
            Issue.record("\(step["name"] ?? "") is missing")
            return
        }
        try compare(document, expected, step, database)
        let tree = try #require(try database.tree(of: id))
        if query(step, "conflicts") == "true", query(step, "rev") == nil {
            #expect(tree.conflicts.map(\.description) == expected["_conflicts"]?.array?.compactMap(\.string) ?? [])
        }
        if query(step, "deleted_conflicts") == "true", query(step, "rev") == nil {
            #expect(
                tree.deletedConflicts.map(\.description)
                    == expected["_deleted_conflicts"]?.array?.compactMap(\.string) ?? [])
        }
    }

    private func readLeaves(_ id: DocumentID, _ step: JSONValue, _ database: Database) throws {
        guard let answer = step["expect"]?["json"], let rows = (answer["$unordered"] ?? answer).array else { return }
        let leaves = try database.leaves(of: id)
        #expect(leaves.count == rows.count, "\(step["name"] ?? "")")
        for leaf in leaves {
            let row = rows.first { $0["ok"]?["_rev"]?.string == leaf.revision?.description }
            try compare(leaf, row?["ok"] ?? .null, step, database)
        }
    }

    private func compare(_ document: Document, _ expected: JSONValue, _ step: JSONValue, _ database: Database) throws {
        compared += 1
        #expect(document.revision?.description == expected["_rev"]?.string, "\(step["name"] ?? "")")
        #expect(document.isDeleted == (expected["_deleted"] == true))
        #expect(try document.body() == members(expected))
        if let revisions = expected["_revisions"], let revision = document.revision {
            // The printed history is no longer than the limit, though another branch may keep more of it.
            let limit = try database.revisionLimit()
            let history = try database.tree(of: document.id)?.history(of: revision, limit: limit)
            #expect(history?.start == revisions["start"]?.int.map { UInt64($0) })
            #expect(history?.signatures.map(\.description) == revisions["ids"]?.array?.compactMap(\.string))
        }
        for member in expected["_attachments"]?.object ?? [:] {
            let attachment = document.attachment(member.name)
            #expect(attachment?.digest.description == member.value["digest"]?.string, "\(step["name"] ?? "")")
            #expect(attachment?.contentType == member.value["content_type"]?.string)
            #expect(attachment?.revpos == member.value["revpos"]?.int.map { UInt64($0) }, "\(step["name"] ?? "")")
            #expect(attachment?.length == member.value["length"]?.int.map { Int64($0) })
        }
    }
}
