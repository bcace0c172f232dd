internal import SettleCore

/// A row of a `_bulk_get` response: `{"id": "a", "docs": [{"ok": {…}}, {"error": {…}}]}`.
struct BulkGetAnswer {
    /// One of the row's entries.
    enum Entry {
        /// The range of the document's bytes.
        case document(Range<Int>)
        /// Why there is no document: the requested revision if reported, the error and the reason.
        case failure(revision: RevisionID?, error: String, reason: String)
    }

    let id: String
    let entries: [Entry]

    /// Reads a row.
    ///
    /// - Throws: ``WireFault``, or `JSONError`.
    init(_ text: UnsafeBufferPointer<UInt8>) throws {
        let outline = try JSONOutline(text, elementsOf: "docs")
        guard let range = outline["id"], let id = text.string(in: range), let docs = outline.elements else {
            throw WireFault("a row of _bulk_get has no id or no docs")
        }
        self.id = id
        entries = try docs.map { try Self.entry(text, $0) }
    }

    private static func entry(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) throws -> Entry {
        let plain: StaticString = "{\"ok\":{"
        let prefix = UnsafeBufferPointer(start: plain.utf8Start, count: plain.utf8CodeUnitCount)
        // Assumes that the value of `ok` ends before the last brace; reading it as a document detects if it does not.
        if text[range].starts(with: prefix) { return .document(range.lowerBound + 6..<range.upperBound - 1) }
        let bytes = UnsafeBufferPointer(rebasing: text[range])
        let outline = try JSONOutline(bytes, elementsOf: "ok")
        if let document = outline["ok"] {
            return .document(range.lowerBound + document.lowerBound..<range.lowerBound + document.upperBound)
        }
        guard let failure = outline["error"] else { throw WireFault("a row of _bulk_get is neither ok nor an error") }
        let told = try bytes.json(in: failure)
        return .failure(
            revision: told["rev"]?.string.flatMap { RevisionID($0) },
            error: told["error"]?.string ?? "unknown_error", reason: told["reason"]?.string ?? "")
    }
}
