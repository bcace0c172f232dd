internal import SettleCore
internal import SettleDatabase

/// The changes of a write, and the stored state that they expect. The changes are committed as a whole or not at
/// all.
///
///     conditions   documents and side records as they were read, ages of settings and design documents, uploads
///     changes      documents, contents apart, side records, contents of attachments
struct ChangeSet: Sendable {
    /// The state of a document in the table: its sequence and its edition. Sequence 0 stands for no document.
    struct Base: Sendable, Hashable {
        var sequence: Int64 = 0
        var edition: Int64 = 0
        var flags: Int16 = 0
    }

    /// A change of a document.
    enum DocumentChange: Sendable {
        case write(DocumentRecord)
        case tree(DocumentRecord)
        /// Writes a document under the sequence it has, for an exact copy.
        case restore(DocumentRecord)
        case remove
        /// A later change in the list replaces this one. A write and a removal still take a sequence, as in every
        /// engine.
        case superseded(takesSequence: Bool)
    }

    /// The expected state of the documents that were read or are changed.
    var expected: [DocumentID: Base] = [:]
    /// The changes, in the order in which documents get their sequences.
    var documents: [(id: DocumentID, change: DocumentChange)] = []
    var newContents: [UInt64: RevisionContent] = [:]
    var removedContents: Set<UInt64> = []
    /// Side records as they were read; `nil` for a missing one.
    var seen: [SideRecord.Key: SideRecord?] = [:]
    /// The new side records; `nil` removes one.
    var records: [SideRecord.Key: SideRecord?] = [:]
    /// The contents of attachments that must exist.
    var neededBlobs: Set<BlobDigest> = []
    var newBlobs: [BlobDigest: BlobRecord] = [:]
    var removedBlobs: Set<BlobDigest> = []
    /// The age of the settings that were read; `nil` if none were read.
    var settingsAge: Int64?
    /// The age of the design documents with which the write was validated; `nil` without validation.
    var designAge: Int64?

    /// Whether there is nothing to commit.
    var isEmpty: Bool {
        documents.isEmpty && newContents.isEmpty && removedContents.isEmpty && records.isEmpty && newBlobs.isEmpty
            && removedBlobs.isEmpty
    }

    /// Whether a setting changes.
    var changesSettings: Bool {
        records.keys.contains { if case .setting = $0 { true } else { false } }
    }

    /// Whether a design document changes.
    var changesDesign: Bool { documents.contains { $0.id.isDesign } }

    /// Adds the changes of another set that is independent of this one.
    mutating func merge(_ other: ChangeSet) {
        documents += other.documents
        expected.merge(other.expected) { first, _ in first }
        newContents.merge(other.newContents) { first, _ in first }
        removedContents.formUnion(other.removedContents)
        records.merge(other.records) { first, _ in first }
        newBlobs.merge(other.newBlobs) { first, _ in first }
        removedBlobs.formUnion(other.removedBlobs)
    }

    /// Whether this set expects something that an earlier set of the same commit touches.
    func depends(on touched: Touched) -> Bool {
        expected.keys.contains { touched.documents.contains($0) } || seen.keys.contains { touched.records.contains($0) }
            || records.keys.contains { touched.records.contains($0) }
            || (settingsAge != nil && touched.hasSettings) || (designAge != nil && touched.hasDesign)
            || removedContents.contains { touched.contents.contains($0) }
    }

    /// The documents and settings that the sets of one commit change.
    struct Touched {
        var documents: Set<DocumentID> = []
        var records: Set<SideRecord.Key> = []
        var contents: Set<UInt64> = []
        var hasSettings = false
        var hasDesign = false

        mutating func insert(_ set: ChangeSet) {
            documents.formUnion(set.documents.map(\.id))
            records.formUnion(set.records.keys)
            contents.formUnion(set.removedContents)
            hasSettings = hasSettings || set.changesSettings
            hasDesign = hasDesign || set.changesDesign
        }
    }
}

// MARK: - Calls

/// Creates the queries and statements that commit change sets.
extension ChangeSet {
    /// Assigns sequences to documents, and creates the calls that write all changes.
    ///
    /// - Parameters:
    ///   - database: The number of the database.
    ///   - state: The locked row, which is updated.
    ///   - tallies: The sums, to which the differences are added.
    /// - Returns: The calls, in order.
    /// - Throws: ``DatabaseError`` for a document without its content.
    func calls(_ database: Int64, _ state: inout DatabaseState, _ tallies: inout Tallies) throws -> [PostgresCall] {
        let number = PostgresValue.integer(database)
        var (written, trees, removed) = ([(DocumentRecord, Int64)](), [(DocumentRecord, Int64)](), [DocumentID]())
        for (id, change) in documents {
            let base = expected[id] ?? Base()
            if case .superseded(let takesSequence) = change {
                state.sequence += takesSequence ? 1 : 0
                continue
            }
            tallies.add(base, -1)
            switch change {
            case .superseded: break
            case .write(let record):
                state.sequence += 1
                written.append((record, state.sequence))
                tallies.add(Base(sequence: state.sequence, flags: record.flags), 1)
            case .restore(let record):
                state.sequence = record.sequence.number
                written.append((record, state.sequence))
                tallies.add(Base(sequence: state.sequence, flags: record.flags), 1)
            case .tree(let record):
                trees.append((record, base.edition + 1))
                tallies.add(Base(sequence: base.sequence, flags: record.flags), 1)
            case .remove:
                state.sequence += 1
                removed.append(id)
            }
        }
        var calls: [PostgresCall] = []
        if !removed.isEmpty {
            calls.append(PostgresCall(.removeDocuments, number, .byteArrays(removed.map { Array($0.string.utf8) })))
        }
        if !written.isEmpty { calls.append(try Self.put(written, number)) }
        if !trees.isEmpty {
            calls.append(
                PostgresCall(
                    .putTrees, number, .byteArrays(trees.map { Array($0.0.id.string.utf8) }), .integers(trees.map(\.1)),
                    .shorts(trees.map(\.0.flags)), .byteArrays(trees.map { $0.0.storedTree })))
        }
        if changesSettings { state.settingsAge += 1 }
        if changesDesign { state.designAge += 1 }
        return calls + contentCalls(number) + recordCalls(number) + blobCalls(number)
    }

    private static func put(_ written: [(DocumentRecord, Int64)], _ number: PostgresValue) throws -> PostgresCall {
        let contents = try written.map { record, _ in
            guard let content = record.content else {
                throw DatabaseError(.storage, "a record of \"\(record.id)\" was to be written without its content")
            }
            return content
        }
        return PostgresCall(
            .putDocuments, number, .byteArrays(written.map { Array($0.0.id.string.utf8) }), .integers(written.map(\.1)),
            .shorts(written.map(\.0.flags)), .byteArrays(written.map { $0.0.storedTree }),
            .byteArrays(contents.map(\.storedAttachments)), .byteArrays(contents.map(\.body.utf8)))
    }

    private func contentCalls(_ number: PostgresValue) -> [PostgresCall] {
        var calls: [PostgresCall] = []
        let new = newContents.sorted { $0.key < $1.key }
        if !new.isEmpty {
            calls.append(
                PostgresCall(
                    .putContents, number, .integers(new.map { Int64(clamping: $0.key) }),
                    .byteArrays(new.map(\.value.storedAttachments)), .byteArrays(new.map(\.value.body.utf8))))
        }
        let removed = removedContents.sorted().map { Int64(clamping: $0) }
        if !removed.isEmpty { calls.append(PostgresCall(.removeContents, number, .integers(removed))) }
        return calls
    }

    private func recordCalls(_ number: PostgresValue) -> [PostgresCall] {
        let put = records.values.compactMap { $0.flatMap(RecordRow.init) }
        let removed = records.filter { $0.value == nil }.compactMap(\.key.place)
        var calls: [PostgresCall] = []
        if !put.isEmpty {
            calls.append(
                PostgresCall(
                    .putRecords, number, .shorts(put.map(\.kind)), .byteArrays(put.map(\.key)),
                    .integers(put.map(\.number)),
                    .byteArrays(put.map(\.value))))
        }
        if !removed.isEmpty {
            calls.append(
                PostgresCall(
                    .removeRecords, number, .shorts(removed.map(\.kind.rawValue)), .byteArrays(removed.map(\.key))))
        }
        return calls
    }

    private func blobCalls(_ number: PostgresValue) -> [PostgresCall] {
        var calls: [PostgresCall] = []
        let removed = removedBlobs.map(\.bytes)
        if !removed.isEmpty { calls.append(PostgresCall(.removeBlobs, number, .byteArrays(removed))) }
        let new = newBlobs.values.map(\.self)
        if !new.isEmpty {
            calls.append(
                PostgresCall(
                    .putBlobs, number, .byteArrays(new.map(\.digest.bytes)), .byteArrays(new.map(\.md5)),
                    .integers(new.map(\.length)), .byteArrays(new.map(\.place)), .byteArrays(new.map(\.content))))
            let uploads = new.filter { $0.place != nil }
            if !uploads.isEmpty {
                calls.append(
                    PostgresCall(
                        .claimUploads, number, .byteArrays(uploads.map(\.digest.bytes)),
                        .byteArrays(uploads.map(\.place))))
            }
        }
        return calls
    }
}

extension DocumentRecord {
    /// The flags of the document's kind.
    var flags: Int16 { Int16(RecordFlags(tree).rawValue) }
}

// MARK: - Tallies

/// The changes of a commit to the numbers of documents: level 0 has a row for each 1,024 sequences, level 1 for
/// each 1,048,576.
///
///     level 1   │ 0: 812,004                     │ 1: 3,101 │
///     level 0   │ 0: 871 │ 1: 902 │ …  │ 1023: 7 │ 1024: 990 │ …
///
/// A document leaves the bucket of its old sequence and enters that of its new one.
struct Tallies {
    private struct Bucket: Hashable {
        let level: Int16
        let number: Int64
    }

    /// The differences by bucket, for each of the four flags.
    private var differences: [Bucket: SIMD4<Int64>] = [:]

    /// Counts that a document leaves or enters its buckets.
    mutating func add(_ base: ChangeSet.Base, _ number: Int64) {
        guard base.sequence > 0, (0..<4).contains(base.flags) else { return }
        for (level, bits) in [(Int16(0), Int64(10)), (1, 20)] {
            differences[Bucket(level: level, number: base.sequence >> bits), default: .zero][Int(base.flags)] += number
        }
    }

    /// The call that adds the differences to the table; `nil` if no number changes.
    func call(_ database: Int64) -> PostgresCall? {
        let rows = differences.filter { $0.value != .zero }.sorted {
            ($0.key.level, $0.key.number) < ($1.key.level, $1.key.number)
        }
        guard !rows.isEmpty else { return nil }
        return PostgresCall(
            .putCounts, .integer(database), .shorts(rows.map(\.key.level)), .integers(rows.map(\.key.number)),
            .integers(rows.map { $0.value[0] }), .integers(rows.map { $0.value[1] }),
            .integers(rows.map { $0.value[2] }), .integers(rows.map { $0.value[3] }))
    }
}
