internal import SettleCore

extension Database {
    /// Removes contents kept apart that belonged to documents which were purged while their revisions could not be read;
    /// returns how many.
    ///
    /// While there is a document whose revisions can't be read, any content may be its, and all stay.
    func removeLostContents() throws -> Int {
        guard try setting(Self.lostContentsSetting) != nil else { return 0 }
        return try engine.hold { writer in
            var named: Set<UInt64> = []
            var range = SequenceRange()
            while case let page = try writer.records(changedIn: range, limit: 500, withContent: false),
                let last = page.last
            {
                for record in page {
                    if record.tree.isEmpty { return 0 }
                    for node in record.tree.allNodes { named.insert(node.bodyToken) }
                }
                range.after = last.sequence
            }
            var removed = 0
            var token: UInt64 = 0
            while case let page = try writer.contentTokens(after: token, limit: 500), let last = page.last {
                for token in page where !named.contains(token) {
                    try writer.removeContent(at: token)
                    removed += 1
                }
                token = last
            }
            try writer.setSetting(Self.lostContentsSetting, to: nil)
            return removed
        }
    }
}
