internal import SettleCore

extension ForeignDocument {
    /// The document with the generations of the server's tree, if the destination has the server's revision already.
    ///
    /// A file with version vectors has no generations. A server has, so a revision that was not pushed yet continues the server's
    /// tree after the revision that the app saw last, or is its sibling if neither includes the other.
    ///
    /// - Parameter known: The history of a revision with a signature at the destination.
    /// - Returns: The document with the leaves that the server lacks; the same one if there is nothing to continue.
    func continued(after known: (RevisionSignature) throws -> RevisionHistory?) rethrows -> ForeignDocument {
        guard hasVersions, let signature = server?.signature, let base = try known(signature) else { return self }
        var document = self
        document.leaves = leaves.compactMap { leaf in
            guard leaf.revision.signature != signature else { return nil }
            guard let history = leaf.history.continued(from: base) else { return leaf }
            var leaf = leaf
            leaf.history = history
            return leaf
        }
        if let shown, let index = leaves.firstIndex(where: { $0.revision == shown }) {
            let signature = leaves[index].revision.signature
            document.shown = document.leaves.first { $0.revision.signature == signature }?.revision
        }
        return document
    }
}

extension RevisionHistory {
    /// The history of versions, continued from the last one that another history includes.
    fileprivate func continued(from base: RevisionHistory) -> RevisionHistory? {
        let last = base.signatures[0]
        let (time, device) = Self.version(last)
        // A version includes the earlier ones of its device.
        let place = signatures.firstIndex { signature in
            let version = Self.version(signature)
            return version.device == device && version.time >= time
        }
        guard let place else {
            return try? RevisionHistory(start: base.start, signatures: [signatures[0]] + base.signatures.dropFirst())
        }
        let newer = signatures[...place].filter { $0 != last }
        return try? RevisionHistory(
            start: base.start + UInt64(newer.count), signatures: newer + base.signatures)
    }

    /// The time and the device of a version, as hexadecimal digits of fixed length.
    private static func version(_ signature: RevisionSignature) -> (time: Substring, device: Substring) {
        let text = signature.description
        return (text.prefix(16), text.dropFirst(16))
    }
}
