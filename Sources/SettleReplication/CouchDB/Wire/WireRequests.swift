internal import SettleCore

/// The bodies of requests about many documents, written without building JSON values.
enum WireRequests {
    /// The body of `_bulk_get`.
    ///
    /// - Parameters:
    ///   - requests: The revisions.
    ///   - tellsKnown: Whether to list the target's ancestors, so that attachments they have may be left out.
    /// - Returns: The body.
    static func bulkGet(_ requests: some Collection<RevisionRequest>, tellsKnown: Bool) -> [UInt8] {
        var bytes = Array("{\"docs\":[".utf8)
        bytes.reserveCapacity(requests.count * 96)
        for (index, request) in requests.enumerated() {
            bytes += Array((index > 0 ? ",{\"id\":" : "{\"id\":").utf8)
            JSONValue.append(request.id.string, to: &bytes)
            bytes += Array(",\"rev\":".utf8)
            append(request.revision, to: &bytes)
            if tellsKnown, !request.knownAncestors.isEmpty {
                bytes += Array(",\"atts_since\":".utf8)
                append(request.knownAncestors, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes += Array("]}".utf8)
        return bytes
    }

    /// The body of `_revs_diff`; of rows with the same id only the first.
    static func revisionsDiff(_ changes: some Sequence<ChangedDocument>) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for change in changes {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONValue.append(change.id.string, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            append(change.leaves, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Appends a list of revisions.
    static func append(_ revisions: [RevisionID], to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (index, revision) in revisions.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(revision, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private static func append(_ revision: RevisionID, to bytes: inout [UInt8]) {
        JSONValue.append(revision.description, to: &bytes)
    }
}
