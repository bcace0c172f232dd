internal import SettleCore
package import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

extension CouchDBPeer {
    /// The revisions that the database lacks; see ``Peer/differences(from:)``.
    ///
    /// Large requests are split, and one that is too large for the server is halved and sent again.
    package func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff] {
        let calls = try calls()
        var rows: [RevisionsDiff] = []
        var rest = changes[...]
        while !rest.isEmpty {
            let limit = learnt.withLock { $0.requestBytes }
            var bytes = 0
            // At least one document, and no id twice in the same request.
            var ids = Set<String>()
            let part = rest.prefix { change in
                bytes += change.id.string.utf8.count + 40 * change.leaves.count + 8
                return ids.insert(change.id.string).inserted && (ids.count == 1 || bytes <= limit)
            }
            rest = rest.dropFirst(part.count)
            rows += try await differences(of: part, calls)
        }
        return rows
    }

    private func differences(of part: ArraySlice<ChangedDocument>, _ calls: PeerCalls) async throws -> [RevisionsDiff] {
        let body = WireRequests.revisionsDiff(part)
        do {
            let answer = try await calls.bytes("POST", "_revs_diff", json: body)
            return try RevisionsDiffAnswer.read(answer, asked: part)
        } catch let error as PeerError where error.status == 413 && part.count > 1 {
            learnt.withLock { $0.recordRefusal(of: body.count) }
            let middle = part.startIndex + part.count / 2
            return try await differences(of: part[..<middle], calls) + differences(of: part[middle...], calls)
        } catch { throw PeerError(error, at: calls.place("_revs_diff")) }
    }
}

// MARK: - RevisionsDiffAnswer

/// A `_revs_diff` response: `{"a": {"missing": ["2-b"], "possible_ancestors": ["1-a"]}}`.
enum RevisionsDiffAnswer {
    /// Reads a response.
    ///
    /// - Parameters:
    ///   - bytes: The JSON.
    ///   - asked: The documents in the request.
    /// - Returns: Rows in request order, for documents with missing revisions; each revision once.
    /// - Throws: ``WireFault``, or `JSONError`.
    static func read(_ bytes: [UInt8], asked: some Sequence<ChangedDocument>) throws -> [RevisionsDiff] {
        guard let members = try JSONValue(utf8: bytes).object else {
            throw WireFault("the answer of _revs_diff is not an object")
        }
        return asked.compactMap { change in
            guard let row = members[change.id.string] else { return nil }
            let told = Set(revisions(row["missing"]))
            let missing = change.leaves.filter(told.contains)
            guard !missing.isEmpty else { return nil }
            return RevisionsDiff(
                id: change.id, missing: missing, possibleAncestors: revisions(row["possible_ancestors"]))
        }
    }

    /// A list of revisions. Invalid ones are skipped: they were not requested and can't be ancestors.
    private static func revisions(_ list: JSONValue?) -> [RevisionID] {
        (list?.array ?? []).compactMap { $0.string.flatMap { RevisionID($0) } }
    }
}
