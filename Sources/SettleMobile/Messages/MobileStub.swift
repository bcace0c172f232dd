package import SettleCore

/// What stands in `_attachments` for an attachment, whose content is asked for by its digest.
package struct MobileStub {
    /// The largest content that is carried, in bytes; Sync Gateway's.
    package static let largestContent = 20 << 20

    private let name: String
    private let json: JSONValue

    package init(_ name: String, digest: String, contentType: String, length: Int64, revpos: UInt64) {
        self.name = name
        json = [
            "stub": true, "digest": .string(digest), "content_type": .string(contentType),
            "length": .number(JSONNumber(length)), "revpos": .number(JSONNumber(revpos)),
        ]
    }

    /// The body of a message: the members of a document, and the stubs behind them.
    package static func body(_ body: DocumentBody, listing stubs: [MobileStub]) -> [UInt8] {
        let bytes = body.utf8
        guard !stubs.isEmpty else { return bytes }
        let listed = JSONValue.object(JSONObject(stubs.map { ($0.name, $0.json) })).utf8
        let separator = bytes.count > 2 ? "," : ""
        return bytes.dropLast() + Array("\(separator)\"_attachments\":".utf8) + listed + [UInt8(ascii: "}")]
    }
}
