internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Sends the documents of a `_bulk_get` request as JSON, one after the other.
final class BulkGetStream: ResponseStream {
    private let database: Database
    private let rows: [BulkGetRow]
    private let options: DocumentOptions
    private let state = Guarded(State())

    private struct State {
        var place = 0
        var outbox = TextOutbox()
    }

    init(database: Database, rows: [BulkGetRow], options: DocumentOptions) {
        self.database = database
        self.rows = rows
        self.options = options
    }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            if let piece = try state.outbox.read() { return .piece(piece) }
            guard state.place <= rows.count else { return .end }
            var text = WireText()
            if state.place == 0 { text += "{\"results\": [".utf8 }
            while state.place < rows.count, text.count < 64 * 1024 {
                if state.place > 0 { text += ",".utf8 }
                text += try answer(rows[state.place])
                state.place += 1
            }
            if state.place == rows.count {
                text += "]}\n".utf8
                state.place += 1
            }
            return try state.outbox.send(text, database)
        }
    }

    private func answer(_ row: BulkGetRow) throws -> WireText {
        var text = WireText()
        text += "{\"id\":".utf8
        row.name.append(to: &text.bytes)
        text += ",\"docs\":[".utf8
        for (index, answer) in try answers(row).enumerated() {
            if index > 0 { text += ",".utf8 }
            text += answer
        }
        text += "]}".utf8
        return text
    }

    private func answers(_ row: BulkGetRow) throws -> [WireText] {
        if let problem = row.problem { return [rendered(row.failure(row.badRevision, problem))] }
        let options = row.options(options)
        let printer = DocumentPrinter(source: database, options: options)
        let results: [Result<DocumentLookup.Found, DocumentLookup.MissingRevision>]
        do { results = try row.results(in: database, options) } catch let error as HTTPError {
            return [rendered(row.failure(row.wantedRevision, error))]
        }
        if results.isEmpty { return [rendered(row.failure("undefined", .missing))] }
        return try results.map { result in
            switch result {
            case .success(let found): try rendered(found, row, printer)
            case .failure(let missing): rendered(row.failure(.string(missing.revision), .missing))
            }
        }
    }

    /// A revision as JSON, or an error if an attachment can't be read.
    private func rendered(
        _ found: DocumentLookup.Found, _ row: BulkGetRow, _ printer: DocumentPrinter
    ) throws -> WireText {
        do {
            var text = WireText(Array("{\"ok\":".utf8))
            text += try printer.print(found.revision, found.content, of: found.record, hasMeta: false).text
            text += "}".utf8
            return text
        } catch let error as DatabaseError where error.code == .attachmentMissing {
            database.report(error, of: found.record.id)
            return rendered(row.failure(.string(found.revision.description), HTTPError(error)))
        }
    }

    private func rendered(_ failure: JSONValue) -> WireText {
        let value: JSONValue = ["error": failure]
        return WireText(value.utf8)
    }
}

// MARK: - BulkGetParts

/// Sends the documents `_bulk_get` asks for as parts, each with its attachments, one after the other.
final class BulkGetParts: ResponseStream {
    private struct State {
        var rest: ArraySlice<BulkGetRow>
        var row: SegmentStream?
        var hasEnded = false
    }

    let boundary = SecureRandom.hexadecimal()
    private let database: Database
    private let options: DocumentOptions
    private let isEmpty: Bool
    private let state: Guarded<State>

    init(database: Database, rows: [BulkGetRow], options: DocumentOptions) {
        self.database = database
        var options = options
        (options.hasAttachments, options.follows, options.hasEncodingInfo) = (true, true, true)
        self.options = options
        isEmpty = rows.isEmpty
        state = Guarded(State(rest: ArraySlice(rows)))
    }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            while true {
                if let row = state.row, case .piece(let bytes) = try row.next() { return .piece(bytes) }
                state.row = nil
                if let row = state.rest.popFirst() {
                    state.row = SegmentStream(database, try segments(row))
                } else if state.hasEnded || isEmpty {
                    return .end
                } else {
                    state.hasEnded = true
                    return .piece(Array("\r\n--\(boundary)--\r\n".utf8))
                }
            }
        }
    }

    private func segments(_ row: BulkGetRow) throws -> [SegmentStream.Segment] {
        if let problem = row.problem { return failure(row.failure(row.badRevision, problem)) }
        let printer = DocumentPrinter(source: database, options: row.options(options))
        let results: [Result<DocumentLookup.Found, DocumentLookup.MissingRevision>]
        do { results = try row.results(in: database, options) } catch let error as HTTPError {
            return failure(row.failure(row.wantedRevision, error))
        }
        if results.isEmpty { return failure(row.failure("undefined", .missing)) }
        return try results.flatMap { result in
            switch result {
            case .success(let found): return try segments(found, printer)
            case .failure(let missing):
                return failure(["rev": .string(missing.revision), "error": "not_found", "reason": "missing"])
            }
        }
    }

    private func segments(
        _ found: DocumentLookup.Found, _ printer: DocumentPrinter
    ) throws -> [SegmentStream.Segment] {
        let printed = try printer.print(found.revision, found.content, of: found.record, hasMeta: false)
        let (inner, type) = MultipartAnswers.related(printed.text.bytes, try MultipartAnswers.wanted(found, printer))
        var head = "\r\n--\(boundary)\r\n"
        if inner.count > 1 {
            head += "X-Doc-Id: \(MultipartAnswers.plain(found.record.id.string))\r\nX-Rev-Id: \(found.revision)\r\n"
        }
        return [.bytes(Array("\(head)Content-Type: \(type)\r\n\r\n".utf8))] + inner
    }

    private func failure(_ told: JSONValue) -> [SegmentStream.Segment] {
        let head = "\r\n--\(boundary)\r\nContent-Type: application/json; error=\"true\"\r\n\r\n"
        return [.bytes(Array(head.utf8) + told.utf8)]
    }
}
