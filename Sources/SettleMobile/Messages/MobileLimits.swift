package import SettleCore

/// The limits of Couchbase Lite for documents, which are stricter than those of CouchDB and this library.
///
/// Its core refuses ids of more than 240 bytes or with a control character (`C4Document::isValidDocID`), and
/// documents with an empty member name. Because of an id of more than 255 bytes it refuses the whole list of
/// changes (`RevFinder::checkDocAndRevID`).
package enum MobileLimits {
    /// The maximum size of a content in bytes; the same as Sync Gateway's.
    package static let largestContent = 20 << 20

    private static let longestID = 240

    /// The reason why Couchbase Lite can't store a document with this id; `nil` if it can.
    package static func fault(in id: DocumentID) -> String? {
        let bytes = id.string.utf8
        if bytes.count > longestID {
            return "its id has \(bytes.count) bytes, and Couchbase Lite takes \(longestID)"
        }
        return bytes.contains { $0 < 32 } ? "its id has a control character, which Couchbase Lite does not take" : nil
    }

    /// The reason why Couchbase Lite can't store a document with this body; `nil` if it can.
    package static func fault(in body: DocumentBody) -> String? {
        mayHaveEmptyName(body.utf8) && hasEmptyName(body.json)
            ? "it has a member with an empty name, which Couchbase Lite does not take" : nil
    }

    /// Whether two quotes come before a colon. Thanks to this check, most bodies are not parsed.
    private static func mayHaveEmptyName(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            let (quote, blanks) = (UInt8(ascii: "\""), [0x20, 0x09, 0x0A, 0x0D] as [UInt8])
            var place = 1
            while place < bytes.count {
                defer { place += 1 }
                guard bytes[place] == quote, bytes[place - 1] == quote else { continue }
                if bytes[(place + 1)...].first(where: { !blanks.contains($0) }) == UInt8(ascii: ":") { return true }
            }
            return false
        }
    }

    private static func hasEmptyName(_ body: JSONValue) -> Bool {
        var work = [body]
        while let value = work.popLast() {
            if let members = value.object {
                for member in members {
                    if member.name.isEmpty { return true }
                    work.append(member.value)
                }
            } else if let elements = value.array {
                work += elements
            }
        }
        return false
    }
}
