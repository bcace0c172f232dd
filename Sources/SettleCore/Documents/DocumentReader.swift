/// Reads a document's JSON once and returns what is needed to store it: the compact body, the body as an Erlang term,
/// and the reserved members.
package struct DocumentReader {
    /// A top-level member that starts with an underscore and is not part of the body.
    package struct ReservedMember: Sendable {
        /// The member's name, underscore included.
        package let name: String
        /// The value's bytes, as in the text.
        package let value: [UInt8]
        /// The offset of the value, in bytes.
        package let offset: Int
    }

    /// The members that make up the body.
    package let body: DocumentBody
    /// The reserved members, in order; only the last of those with the same name.
    package let reserved: [ReservedMember]

    /// Members that start with an underscore but are part of the body: those of the replicator and the one for access
    /// control.
    static let storedNames: Set<String> = [
        "_access", "_replication_state", "_replication_state_time", "_replication_state_reason", "_replication_id",
        "_replication_stats",
    ]

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: JSON text in UTF-8.
    ///   - allowsReserved: Whether reserved members are collected or refused.
    /// - Returns: The document.
    /// - Throws: ``JSONError``: text that is not JSON, `notAnObject`, or `reservedMember`.
    package static func read(_ bytes: [UInt8], allowsReserved: Bool) throws(JSONError) -> DocumentReader {
        try bytes.withUnsafeBufferPointer { buffer -> Result<DocumentReader, JSONError> in
            do throws(JSONError) { return .success(try read(buffer, allowsReserved: allowsReserved)) } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Reads a document; see ``read(_:allowsReserved:)-([UInt8],_)``.
    package static func read(
        _ text: UnsafeBufferPointer<UInt8>, allowsReserved: Bool
    ) throws(JSONError) -> DocumentReader {
        if let reader = try readUnlessDoubled(text, allowsReserved: allowsReserved, isUnique: false) { return reader }
        // Rare: parse into a value, which drops all but the last member of each name, and read its text. Names that
        // only share a fingerprint are found again, and are ignored this time.
        let unique = try JSONValue(utf8: text).utf8
        let second = unique.withUnsafeBufferPointer { buffer in
            Result { () throws(JSONError) in
                try readUnlessDoubled(buffer, allowsReserved: allowsReserved, isUnique: true)
            }
        }
        guard let reader = try second.get() else { throw JSONError(.syntax, "a text without duplicates has some") }
        return reader
    }

    /// Reads a document in one pass; `nil` when two members may have the same name.
    private static func readUnlessDoubled(
        _ text: UnsafeBufferPointer<UInt8>, allowsReserved: Bool, isUnique: Bool
    ) throws(JSONError) -> DocumentReader? {
        let sink = DocumentSink(text: text, allowsReserved: allowsReserved)
        defer { sink.deallocate() }
        var scanner = JSONScanner(text, into: sink)
        try scanner.scan()
        return scanner.sink.hasDuplicates && !isUnique ? nil : scanner.sink.result
    }
}
