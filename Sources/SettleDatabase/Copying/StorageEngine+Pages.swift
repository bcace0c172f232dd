internal import SettleCore

extension StorageEngine {
    /// Calls a closure with all documents changed after a sequence, in the order of their last changes and with their contents; a
    /// page has about 4 MiB.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for one that can't be read, and what the closure throws.
    func forEachPage(changedAfter sequence: UpdateSequence, _ body: ([DocumentRecord]) throws -> Void) throws {
        var range = SequenceRange(after: sequence)
        // It is not known yet how large they are.
        var limit = 16
        while case let page = try read({ try $0.records(changedIn: range, limit: limit, withContent: true) }),
            let last = page.last
        {
            if let damage = page.lazy.compactMap(\.damage).first { throw damage }
            try body(page)
            range.after = last.sequence
            let bytes = page.reduce(0) { $0 + ($1.content?.body.utf8.count ?? 0) + $1.tree.count * 64 }
            limit = min(max(page.count * (4 << 20) / max(bytes, 1), 1), 500)
        }
    }

    /// Calls a closure with all side records of a kind in an order that can be continued: local documents, settings, contents of
    /// attachments, expirations by id, or the journal.
    func forEachPage(of scan: SideRecord.Scan, _ body: ([SideRecord]) throws -> Void) throws {
        var scan = scan
        while case let page = try read({ try $0.sideRecords(scan, limit: scan.pageLength) }), let last = page.last {
            try body(page)
            scan = last.followers
        }
    }
}

extension SideRecord {
    /// The records behind this one.
    fileprivate var followers: Scan {
        switch self {
        case .local(let document): .locals(after: document.id)
        case .setting(let name, _): .settings(after: name)
        case .expiration(let id, _): .expirationsByID(after: id)
        case .blob(let blob): .blobs(after: blob.digest)
        case .journal(let entry): .journal(after: entry.number)
        }
    }
}

extension SideRecord.Scan {
    /// How many are read at once; a local document may be as large as any other.
    fileprivate var pageLength: Int { if case .locals = self { 16 } else { 500 } }
}
