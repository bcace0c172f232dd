package import SettleCore
internal import SettleCrypto
internal import SettlePlatform

/// A blob of Couchbase Lite: a member `{"@type":"blob","digest":"sha1-…","length":…,"content_type":…}` anywhere in
/// a document. Its content is an attachment named `blob_` and the member's path, so that CouchDB clients see it
/// too.
package struct MobileBlob: Hashable, Sendable {
    package static let prefix = "blob_"
    private static let word = Array("\"blob\"".utf8)

    /// The JSON pointer of the member.
    package let path: String
    package let digest: String
    package let contentType: String
    /// The size of the content in bytes, according to the member.
    package let length: Int64

    /// The name of the attachment with the content.
    package var attachmentName: String { Self.prefix + path }

    /// The blobs of a document.
    package static func all(in body: DocumentBody) -> [MobileBlob] {
        // Most documents don't contain the word at all.
        guard body.utf8.firstIndex(of: word) != nil else { return [] }
        var (found, work) = ([MobileBlob](), [(path: "", value: body.json)])
        while let (path, value) = work.popLast() {
            if let members = value.object {
                if members["@type"] == "blob", let digest = members["digest"]?.string {
                    let type = members["content_type"]?.string ?? "application/octet-stream"
                    let length = members["length"]?.int.flatMap { Int64(exactly: $0) } ?? 0
                    found.append(MobileBlob(path: path, digest: digest, contentType: type, length: length))
                    continue
                }
                work += members.map { (MergePath.pointer(path, $0.name), $0.value) }
            } else if let elements = value.array {
                work += elements.enumerated().map { ("\(path)/\($0.offset)", $0.element) }
            }
        }
        return found
    }

    /// The digests of a document's blobs, by the names of their attachments.
    package static func digests(in body: DocumentBody) -> [ExactText: String] {
        Dictionary(all(in: body).map { (ExactText($0.attachmentName), $0.digest) }) { first, _ in first }
    }

    /// Whether an entry of the list `_attachments` only repeats a blob of the document, whose member counts.
    ///
    /// Couchbase Lite names such an entry `blob_` and the member's path, which begins with a slash. Its first versions
    /// wrote `blob_` and a number. Any other name is one that a client of CouchDB has chosen.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - blobs: The blobs of the document.
    /// - Returns: `false` for an attachment of its own.
    package static func isRepeated(by entry: WireAttachment, among blobs: [MobileBlob]) -> Bool {
        let name = Array(entry.name.utf8)
        guard name.starts(with: prefix.utf8) else { return false }
        let rest = name.dropFirst(prefix.utf8.count)
        if rest.first == UInt8(ascii: "/") { return true }
        let isNumber = rest.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber && blobs.contains { $0.digest == entry.digest }
    }

    /// The properties of a blob's content.
    package struct Content {
        let digest: String
        let contentType: String
        let length: Int64

        package init(digest: String, contentType: String, length: Int64) {
            (self.digest, self.contentType, self.length) = (digest, contentType, length)
        }
    }

    /// Replaces the contents of a document's blobs.
    ///
    /// - Parameters:
    ///   - contents: The new contents by the paths of the blobs.
    ///   - body: The document.
    /// - Returns: The document, with these contents in the blobs' members.
    /// - Throws: `JSONError`.
    package static func put(_ contents: [ExactText: Content], into body: DocumentBody) throws -> DocumentBody {
        try DocumentBody(put(contents, into: body.json, at: ""))
    }

    private static func put(_ contents: [ExactText: Content], into value: JSONValue, at path: String) -> JSONValue {
        if var members = value.object, let content = contents[ExactText(path)] {
            members["digest"] = .string(content.digest)
            members["content_type"] = .string(content.contentType)
            members["length"] = .number(JSONNumber(content.length))
            return .object(members)
        }
        let inner = path + "/"
        guard contents.keys.contains(where: { $0.string.utf8.starts(with: inner.utf8) }) else { return value }
        if let members = value.object {
            let changed = members.map {
                ($0.name, put(contents, into: $0.value, at: MergePath.pointer(path, $0.name)))
            }
            return .object(JSONObject(changed))
        }
        guard let elements = value.array else { return value }
        return .array(elements.enumerated().map { put(contents, into: $0.element, at: "\(path)/\($0.offset)") })
    }
}

extension DocumentBody {
    /// The body of a message: the members of a document, and stubs of attachments, whose contents are requested by
    /// digest.
    package func message(listing stubs: [WireAttachment]) -> [UInt8] {
        stubs.isEmpty ? utf8 : WireDocument(id: nil, body: self, attachments: stubs).bytes(.bodyLate)
    }
}

// MARK: - MobileDigest

/// Couchbase Lite's digest of a blob's content: `sha1-` and the SHA-1 in base64.
package enum MobileDigest {
    package static func of(_ content: [UInt8]) -> String { "sha1-" + Base64.encode(SHA1.hash(content)) }
}
