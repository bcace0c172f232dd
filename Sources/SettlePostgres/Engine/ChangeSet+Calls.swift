internal import SettleCore
internal import SettleDatabase

/// The questions and statements that commit change sets.
extension ChangeSet {
    /// Gives documents their sequences, and makes the calls that write all changes.
    ///
    /// - Parameters:
    ///   - database: The number of the database.
    ///   - state: The locked row, which moves on.
    ///   - tallies: The sums, which take the differences.
    /// - Returns: The calls, in their order.
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
    /// The number of the document's kind.
    var flags: Int16 { Int16(RecordFlags(tree).rawValue) }
}
