internal import SettleCore
internal import SettleDatabase
internal import SettleQuery
internal import SettleViews

/// The documents on which functions are tried.
struct TrialSamples {
    /// A document: its text, and the stored document that it would replace.
    struct Sample {
        let id: String
        let text: [UInt8]
        var old: [UInt8]?
    }

    let database: Database

    private static let maximumDocuments = 100
    /// The total size of documents, in bytes, at which no more are added.
    private static let maximumBytes = 16 << 20

    /// The samples that a request names: `ids`, `given`, `selector`, or a page by `limit` and `startkey`.
    ///
    /// - Parameters:
    ///   - value: The request's `docs`; the first 20 documents if it is missing.
    ///   - deadline: The time at which a search by selector ends with the samples found so far.
    /// - Returns: At most 100 documents, and no more after 16 MiB. Design documents and tombstones are left out, as
    ///   in a view.
    /// - Throws: ``HTTPError`` with status 400; `SelectorError`; ``DatabaseError``.
    func named(_ value: JSONValue?, until deadline: ContinuousClock.Instant) throws -> [Sample] {
        let members = value?.object ?? ["limit": 20]
        try members.requireMembers(among: ["ids", "given", "limit", "startkey", "selector"])
        guard ["ids", "given", "selector"].count(where: { members[$0] != nil }) < 2 else {
            throw HTTPError.badRequest("`docs` must have one of `ids`, `given` and `selector`.")
        }
        if let given = members["given"]?.array {
            return try bounded(given) { document in
                let id = document["_id"]?.string ?? ""
                return Sample(id: id, text: document.utf8, old: try stored(DocumentID(unchecked: id))?.text)
            }
        }
        if let ids = members["ids"]?.array {
            return try bounded(ids) { id in try id.string.flatMap { try stored(DocumentID(unchecked: $0)) } }
        }
        let limit = min(max(members["limit"]?.int ?? 20, 0), Self.maximumDocuments)
        if let selector = members["selector"] {
            return try bounded(ids(selector, limit, until: deadline)) { try stored($0) }
        }
        return try page(from: members["startkey"]?.string.map { DocumentID(unchecked: $0) }, limit)
    }

    private func page(from start: DocumentID?, _ limit: Int) throws -> [Sample] {
        var (range, samples, bytes) = (DocumentRange(from: start), [Sample](), 0)
        while samples.count < limit, bytes < Self.maximumBytes {
            let page = try database.records(in: range, limit: Self.maximumDocuments, withContent: true)
            guard let last = page.last else { break }
            range.after = last.id
            for record in page where samples.count < limit && bytes < Self.maximumBytes {
                guard let sample = sample(record) else { continue }
                samples.append(sample)
                bytes += sample.text.count
            }
        }
        return samples
    }

    /// The ids that match a selector.
    private func ids(
        _ selector: JSONValue, _ limit: Int, until deadline: ContinuousClock.Instant
    ) throws -> [DocumentID] {
        var options = FindOptions(try MangoSelector(selector))
        options.limit = limit
        var cursor = try FindCursor(options, in: database)
        try cursor.update { _, _ in }
        var found: [DocumentID] = []
        while !cursor.isDone, ContinuousClock.now < deadline {
            try cursor.next(lookingAt: 1000) {
                found.append($0.id)
                return true
            }
        }
        return found
    }

    private func bounded<Name>(_ names: [Name], _ sample: (Name) throws -> Sample?) rethrows -> [Sample] {
        var (samples, bytes) = ([Sample](), 0)
        for name in names.prefix(Self.maximumDocuments) where bytes < Self.maximumBytes {
            guard let found = try sample(name) else { continue }
            samples.append(found)
            bytes += found.text.count + (found.old?.count ?? 0)
        }
        return samples
    }

    private func stored(_ id: DocumentID) throws -> Sample? { try database.record(of: id).flatMap(sample) }

    private func sample(_ record: DocumentRecord) -> Sample? {
        guard !record.id.isDesign, record.tree.winner?.isDeleted == false else { return nil }
        return Sample(id: record.id.string, text: ScriptDocument.mapped(record, hasSequence: false))
    }
}
