internal import Foundation
internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleImport
internal import SettlePlatform

/// One import, on a thread of its own: reads the file of a request, and stores its documents or says what it holds.
struct ImportRun: Sendable {
    let context: RequestContext
    let request: ImportRequest
    let database: Database

    /// Imports the file.
    ///
    /// - Parameter answer: Receives the answer: an error if the file can't be imported, what it holds for a dry run, and
    ///   otherwise a stream of lines, which this thread then fills.
    func run(_ answer: Promise<HTTPResponse>) {
        do { try run(in: ImportFolder(in: context.databases.makeUploadFolder()), answer) } catch {
            answer.fulfil(.error(httpError(error)))
        }
    }

    /// Imports by a file in a folder, which is removed before the answer ends.
    private func run(in folder: ImportFolder, _ answer: Promise<HTTPResponse>) throws {
        var end: (() -> Void)?
        defer {
            folder.remove()
            end?()
        }
        let source = try open(in: folder)
        let options = try request.options(for: source)
        guard !request.isDryRun else {
            let preview = try preview(source, options, in: folder)
            end = { answer.fulfil(.json(.object(preview))) }
            return
        }
        let store = try ServerImportStore(database, context)
        let stream = ImportStream(context.request.life)
        answer.fulfil(
            HTTPResponse(
                status: 200, headers: ["Content-Type": "application/x-ndjson", "Cache-Control": "no-store"],
                body: .stream(stream, length: nil)))
        watching(stream) {
            let last = lastLine(of: stream, from: source, options, store)
            end = { stream.finish(with: last) }
        }
    }

    /// Writes the file, and finds out what it is.
    private func open(in folder: ImportFolder) throws -> ForeignDatabase {
        let path = try folder.write(context.request.body, as: request.name)
        let (name, last) = (request.name.lowercased(), request.name.split(separator: "/").last ?? "")
        guard !Self.partEndings.contains(where: { name.hasSuffix($0) }), !last.hasPrefix("MANIFEST-"), last != "CURRENT"
        else {
            throw ForeignFileError(
                .unsupported, "\(last) is a part of a database, and can't be read alone. \(Self.advice)")
        }
        let options = DumpOptions(
            encoding: request.encoding, translation: JSONTranslation(maximumValues: Self.maximumValues),
            longest: context.options.largestBody)
        do { return try ForeignDatabase(at: URL(fileURLWithPath: path), kind: request.kind, options) } catch let error
            as ForeignFileError
        {
            // The client knows the file by its name alone.
            let message = error.message.replacing("\(folder.path)/", with: "")
            throw ForeignFileError(error.code, error.code == .missing ? "\(message) \(Self.advice)" : message)
        }
    }

    /// How many values a text may have that is translated as a whole; they take a few hundred megabytes.
    private static let maximumValues = 4_000_000
    /// How the names of files end that are parts of databases.
    private static let partEndings = [".ldb", ".sst", "-wal", "-shm", "-journal"]
    private static let advice =
        "A database that is a folder or several files is imported with the tool: `settle import URL FOLDER`."

    /// What the file holds: what `settle import --dry-run --json` prints, the names of several collections, and the first
    /// documents.
    private func preview(
        _ source: ForeignDatabase, _ options: ImportOptions, in folder: ImportFolder
    ) throws -> JSONObject {
        var scratchOptions = DatabaseOptions()
        scratchOptions.maximumDocumentSize = .max
        scratchOptions.warn = { _ in }
        let scratch = try Database.create("\(folder.path)/.scratch", options: scratchOptions)
        defer { scratch.close() }
        let (sample, life) = (ImportSample(), context.request.life)
        let report = try source.inspect(options, verifies: false, scratch: scratch, sample: sample) { _ in
            if life.isAbandoned { throw CancellationError() }
        }
        let collections = source.collections
        var answer = report.json(of: collections.count > 1 ? options.collection : nil)
        if collections.count > 1 { answer["collections"] = .array(collections.map(JSONValue.string)) }
        answer["sample"] = .array(sample.rows)
        return answer
    }

    /// Runs an import that ends when the user's right does.
    private func watching(_ stream: ImportStream, _ body: () -> Void) {
        let watch = context.service(\.watch)
        let number = watch.add(AccessWatch.Grant(context, .databaseAdmin)) { [weak stream] reason in
            stream?.stop(.forbidden(reason))
        }
        defer { watch.remove(number) }
        body()
    }

    /// Imports, adds the lines of the answer but the last one, and returns that.
    private func lastLine(
        of stream: ImportStream, from source: ForeignDatabase, _ options: ImportOptions, _ store: ServerImportStore
    ) -> JSONValue {
        do {
            let result =
                if case .dump(let records) = source.content {
                    try importDump(records, of: source, into: store, stream)
                } else {
                    try importDatabase(source, options, into: store, stream)
                }
            return ["result": .object(result)]
        } catch {
            let answer = httpError(error)
            return ["error": .string(answer.error), "reason": .string(answer.reason)]
        }
    }

    private func importDump(
        _ records: any RecordSource, of source: ForeignDatabase, into store: ServerImportStore, _ stream: ImportStream
    ) throws -> JSONObject {
        let start = ContinuousClock.now
        let options = RecordImporter.Options(
            idAttribute: request.idMember, onConflict: request.conflict ?? .fail, isStrict: request.isStrict)
        let importer = RecordImporter(store, options: options) { failure in
            let told = HTTPError(failure.error)
            stream.add(failure.json(error: told.error, message: told.reason))
        }
        let position = { source.position?() ?? (done: 0, total: 0) }
        var pace = ImportPace(stream)
        try importer.run(records) { counts in
            let (done, total) = position()
            try pace.report(
                imported: counts.stored, failed: counts.failed, fraction: Double(done) / Double(max(total, 1)))
        }
        return importer.counts.json(
            of: source.kind, importer.notes(of: records), seconds: (ContinuousClock.now - start).inSeconds,
            bytes: position().done)
    }

    private func importDatabase(
        _ source: ForeignDatabase, _ options: ImportOptions, into store: ServerImportStore, _ stream: ImportStream
    ) throws -> JSONObject {
        let start = ContinuousClock.now
        var (failed, pace) = (0, ImportPace(stream))
        let lost = { (fault: ImportReport.Fault) in
            failed += 1
            var line: JSONObject = ["error": "not_taken"]
            for member in fault.json.object ?? JSONObject() { line[member.name] = member.value }
            stream.add(.object(line))
        }
        let report = try source.importAll(into: store, options: options, lost: lost) { progress in
            try pace.report(imported: progress.documents, failed: failed, fraction: progress.fraction)
        }
        return report.json(
            of: source.collections.count > 1 ? options.collection : nil,
            seconds: (ContinuousClock.now - start).inSeconds)
    }

    /// The error for the client. An error of the server is also logged.
    private func httpError(_ error: any Error) -> HTTPError {
        let answer = HTTPError(error)
        if answer.status >= 500 {
            context.options.log?.warning("an import failed: \(error)", ["db": context.parameter("db")])
        }
        return answer
    }
}
