internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The wire form of a revision: the reserved members are spliced around the bytes of the stored body.
///
///     {"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}, ‹members› ,"_attachments":{…}}
enum DocumentBytes {
    /// Where attachment contents are.
    enum Contents {
        /// Only stubs, and contents inlined in the JSON.
        case inline
        /// In the parts of the request that follow, in the same order.
        case follow
    }

    /// Appends a revision.
    static func append(_ revision: PeerRevision, contents: Contents, to bytes: inout [UInt8]) {
        bytes += Array("{\"_id\":".utf8)
        JSONValue.append(revision.id.string, to: &bytes)
        bytes += Array(",\"_rev\":".utf8)
        JSONValue.append(revision.revision.description, to: &bytes)
        bytes += Array(",\"_revisions\":".utf8)
        revision.history.append(to: &bytes)
        if revision.isDeleted { bytes += Array(",\"_deleted\":true".utf8) }
        let members = revision.body.utf8.dropFirst().dropLast()
        if !members.isEmpty {
            bytes.append(UInt8(ascii: ","))
            bytes += members
        }
        if !revision.attachments.isEmpty {
            bytes += Array(",\"_attachments\":{".utf8)
            for (index, attachment) in revision.attachments.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(attachment, contents: contents, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// An upper bound for a revision's bytes as JSON, including attachments.
    static func estimate(_ revision: PeerRevision) -> Int {
        let attachments = revision.attachments.reduce(0) { sum, attachment in
            let content = if case .bytes(let bytes) = attachment.content { bytes.count / 3 * 4 + 4 } else { 0 }
            return sum + content + 256 + (attachment.name.utf8.count + attachment.contentType.utf8.count) * 6
        }
        return revision.body.utf8.count + 36 * revision.history.signatures.count + 160
            + revision.id.string.utf8.count * 6 + attachments
    }

    private static func append(_ attachment: PeerAttachment, contents: Contents, to bytes: inout [UInt8]) {
        JSONValue.append(attachment.name, to: &bytes)
        bytes += Array(":{\"content_type\":".utf8)
        JSONValue.append(attachment.contentType, to: &bytes)
        bytes += Array(",\"revpos\":\(attachment.revpos),\"digest\":\"\(attachment.digest)\"".utf8)
        switch (attachment.content, contents) {
        case (.stub, _): bytes += Array(",\"length\":\(attachment.length),\"stub\":true".utf8)
        case (.bytes(let content), .inline): bytes += Array(",\"data\":\"\(Base64.encode(content))\"".utf8)
        case (.bytes, .follow), (.source, _):
            bytes += Array(",\"length\":\(attachment.length),\"follows\":true".utf8)
            if attachment.encoding != .identity {
                bytes += Array(
                    ",\"encoding\":\"\(attachment.encoding.rawValue)\",\"encoded_length\":\(attachment.encodedLength)"
                        .utf8)
            }
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
