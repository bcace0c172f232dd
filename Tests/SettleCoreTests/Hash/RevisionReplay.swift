import CZlib
import Foundation
import SettleCrypto
import SettlePlatform

@testable import SettleCore

/// Replays the writes of a recorded exchange, knowing only the inputs of revision ids.
struct RevisionReplay {
    private struct Stored {
        var revision: RevisionID
        var isDeleted: Bool
        var attachments: [AttachmentSignature]
        var body: DocumentBody
    }

    private var documents: [String: Stored] = [:]
    private var variables: [String: String] = [:]
    private let hasher = RevisionHasher()
    /// How many revision ids were computed for comparison.
    private(set) var compared = 0

    /// The ids the recording holds for a step that writes successfully.
    func expected(_ step: JSONValue) -> [String] {
        guard let status = step["expect"]?["status"]?.int, 200...201 ~= status, step["method"]?.string != "GET"
        else { return [] }
        let answer = step["expect"]?["json"]
        if let rows = answer?.array { return rows.compactMap { $0["rev"]?.string } }
        return [answer?["rev"]?.string].compactMap(\.self)
    }

    /// Performs a step's write and returns the ids of the new revisions.
    mutating func run(_ step: JSONValue) throws -> [String] {
        guard !expected(step).isEmpty, let path = step["path"]?.string else { return [] }
        let parts = path.split(separator: "/").map(String.init)
        var revisions: [String] = []
        if parts.last == "_bulk_docs" {
            for (index, document) in (step["json"]?["docs"]?.array ?? []).enumerated() {
                let id = document["_id"]?.string ?? "anonymous-\(index)"
                revisions.append(try write(document, id: id, replicates: false))
            }
        } else if parts.count == 3 {
            revisions.append(try writeAttachment(parts[2], of: parts[1], step))
        } else if step["method"]?.string == "DELETE" {
            revisions.append(try write(["_deleted": true], id: parts[1], replicates: false))
        } else {
            let document = try step["text"]?.string.map { try JSONValue(parsing: $0) } ?? step["json"] ?? .null
            let replicates = step["query"]?["new_edits"]?.string == "false"
            revisions.append(try write(document, id: parts[1], replicates: replicates))
        }
        compared += revisions.count
        return revisions
    }

    private mutating func write(_ document: JSONValue, id: String, replicates: Bool) throws -> String {
        let read = try DocumentReader.read(document.utf8, allowsReserved: true)
        let isDeleted = document["_deleted"]?.bool ?? false
        let before = documents[id]
        let attachments = try (document["_attachments"]?.object ?? [:]).map { member in
            if let kept = before?.attachments.first(where: { $0.name == member.name }), member.value["data"] == nil {
                return kept
            }
            let type = member.value["content_type"]?.string ?? "application/octet-stream"
            let data = Data(base64Encoded: member.value["data"]?.string ?? "") ?? Data()
            return try signature(name: member.name, contentType: type, [UInt8](data))
        }
        let revision: RevisionID
        if replicates, let given = document["_rev"]?.string {
            revision = try RevisionID(validating: given)
        } else {
            revision = hasher.revision(
                of: read.body, parent: before?.revision, isDeleted: isDeleted, attachments: attachments)
        }
        documents[id] = Stored(
            revision: revision, isDeleted: isDeleted, attachments: attachments, body: read.body)
        return revision.description
    }

    private mutating func writeAttachment(_ name: String, of id: String, _ step: JSONValue) throws -> String {
        var stored = documents[id]
        var attachments = stored?.attachments ?? []
        let position = attachments.firstIndex { $0.name == name }
        if step["method"]?.string == "DELETE" {
            attachments.removeAll { $0.name == name }
        } else {
            let type = step["headers"]?["Content-Type"]?.string ?? "application/octet-stream"
            let new = try signature(name: name, contentType: type, content(of: step))
            if let position { attachments.remove(at: position) }
            // Changed content of an attachment moves it to the front, like a new attachment.
            attachments.insert(new, at: 0)
        }
        let body = stored?.body ?? .empty
        let revision = hasher.revision(of: body, parent: stored?.revision, attachments: attachments)
        stored = Stored(revision: revision, isDeleted: false, attachments: attachments, body: body)
        documents[id] = stored
        return revision.description
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

    private func signature(name: String, contentType: String, _ content: [UInt8]) throws -> AttachmentSignature {
        let md5 = MD5()
        let type = contentType.split(separator: ";")[0]
        let compressible =
            type.hasPrefix("text/")
            || ["application/javascript", "application/json", "application/xml"].contains(String(type))
        md5.update(compressible ? Self.gzip(content) : content)
        return AttachmentSignature(name: name, contentType: contentType, md5: md5.finish())
    }

    /// Gzip bytes as CouchDB makes them: zlib at level 8, no file name, no time.
    static func gzip(_ content: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 8, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        var input = content
        return input.withUnsafeMutableBufferPointer { source in
            [UInt8](unsafeUninitializedCapacity: source.count + 1024) { target, count in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                deflate(&stream, Z_FINISH)
                count = target.count - Int(stream.avail_out)
            }
        }
    }
}
