internal import RevisionTree

extension Database {
    /// Calls a closure with every content that is kept of documents changed after a sequence, a page of documents at a
    /// time.
    func forEachContent(
        since: UpdateSequence = 0, _ body: (RevisionNode, RevisionContent) throws -> Void
    ) throws {
        var range = SequenceRange(after: since)
        while true {
            let last: UpdateSequence? = try engine.snapshot { reader in
                let page = try reader.records(changedIn: range, limit: 200, withContent: true)
                for record in page {
                    for node in record.tree.allNodes where node.bodyToken != BodyToken.none {
                        let isInRecord = node.bodyToken == BodyToken.record
                        let content = isInRecord ? record.content : try reader.content(at: node.bodyToken)
                        if let content { try body(node, content) }
                    }
                }
                return page.last?.sequence
            }
            guard let last else { return }
            range.after = last
        }
    }
}
