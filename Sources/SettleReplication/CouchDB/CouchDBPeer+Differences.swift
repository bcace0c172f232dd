internal import SettleCore
package import SettleDatabase

extension CouchDBPeer {
    /// What the database lacks; see ``Peer/differences(from:)``. Large requests are split.
    package func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff] {
        let calls = try calls()
        var rows: [RevisionsDiff] = []
        var rest = changes[...]
        while !rest.isEmpty {
            var bytes = 0
            // At least one, and no id twice in the same request.
            var ids = Set<String>()
            let part = rest.prefix { change in
                bytes += change.id.string.utf8.count + 40 * change.leaves.count + 8
                return ids.insert(change.id.string).inserted && (ids.count == 1 || bytes <= options.requestBytes)
            }
            rest = rest.dropFirst(part.count)
            let answer = try await calls.bytes("POST", "_revs_diff", json: WireRequests.revisionsDiff(part))
            do { rows += try RevisionsDiffAnswer.read(answer, asked: part) } catch {
                throw PeerError(error, at: calls.place("_revs_diff"))
            }
        }
        return rows
    }
}
