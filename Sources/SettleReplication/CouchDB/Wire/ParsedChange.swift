internal import SettleCore

/// A row of `_changes`: `{"seq": …, "id": "a", "changes": [{"rev": "2-b"}], "deleted": true}`.
struct ParsedChange {
    /// The document; `nil` for rows that are not about a document, like Sync Gateway's rows about users.
    let change: ChangedDocument?
    /// The row's sequence; `nil` if the peer omitted it.
    let sequence: PeerSequence?

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - text: Its JSON.
    ///   - before: The previous row's sequence, used if this row has none: starting there is always safe.
    /// - Throws: ``WireFault``, or `JSONError`.
    init(_ text: UnsafeBufferPointer<UInt8>, before: PeerSequence) throws {
        let outline = try JSONOutline(text, elementsOf: "changes")
        guard let idRange = outline["id"], let id = text.string(in: idRange), let changes = outline.elements else {
            throw WireFault("a row of _changes has no id or no changes")
        }
        let told = try outline["seq"].map { try text.json(in: $0) } ?? .null
        let sequence = told.isNull ? nil : PeerSequence(told)
        self.sequence = sequence
        guard !changes.isEmpty, let id = try? DocumentID(validating: id) else {
            change = nil
            return
        }
        let leaves = try changes.map { range in
            guard let revision = Self.revision(text, range) else {
                throw WireFault("a row of _changes names a revision that is none, of the document \"\(id)\"")
            }
            return revision
        }
        let isDeleted = try outline["deleted"].map { try text.json(in: $0) == true } ?? false
        var change = ChangedDocument(sequence: sequence ?? before, id: id, leaves: leaves, isDeleted: isDeleted)
        // Sync Gateway: the document left all channels, and its revision is listed without its content.
        change.mayHaveLeft = outline["removed"] != nil
        self.change = change
    }

    /// The revision of `{"rev": "2-b"}`.
    private static func revision(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> RevisionID? {
        let plain: StaticString = "{\"rev\":\""
        let bytes = UnsafeBufferPointer(rebasing: text[range])
        let prefix = UnsafeBufferPointer(start: plain.utf8Start, count: plain.utf8CodeUnitCount)
        if bytes.starts(with: prefix),
            bytes.dropFirst(prefix.count).firstIndex(of: UInt8(ascii: "\"")) == bytes.count - 2
        {
            let name = String(decoding: bytes[prefix.count..<bytes.count - 2], as: UTF8.self)
            if !name.utf8.contains(UInt8(ascii: "\\")) { return RevisionID(name) }
        }
        return (try? JSONValue(utf8: bytes))?["rev"]?.string.flatMap { RevisionID($0) }
    }
}
