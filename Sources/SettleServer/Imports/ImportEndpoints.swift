internal import SettleHTTP
internal import SettleImport
internal import SettlePlatform
internal import SettleReplication

/// Importing files: an extension of ours.
enum ImportEndpoints {
    /// `POST /{db}/_import`: stores the documents of a file, as `settle import` does, and says how far it is.
    static let importFile: Endpoint = .work(\.importing) { threads, context in
        try context.requireContentType("application/octet-stream")
        guard context.request.headers["Content-Encoding"] == nil else {
            throw HTTPError.contentType("Send the file as it is; a text may be gzip by itself.")
        }
        guard !ReplicatorDocuments.isOfSystem(context.parameter("db")) else {
            throw HTTPError.forbidden("Files are not imported into databases of the system.")
        }
        let run = ImportRun(
            context: context, request: try ImportRequest(context.query), database: try context.database())
        let answer = Promise<HTTPResponse>()
        threads.submit(for: context.user.name ?? "") { run.run(answer) }
        return HTTPResponse(status: 200, body: .later(answer))
    }
}

// MARK: - ImportRequest

/// What a request says of the file that it brings, and how the file is imported: the parameters are the options of
/// `settle import`.
struct ImportRequest: Sendable {
    /// The name of the file; its ending tells a table.
    let name: String
    /// What the file is, if its content does not tell.
    let kind: ForeignDatabase.Kind?
    /// The encoding of a text, if its bytes do not tell.
    let encoding: TextEncoding?
    /// The member whose value is the id of a document without `_id`.
    let idMember: String?
    /// What happens to documents that exist.
    let conflict: ImportConflict?
    /// The collection, of a database with collections.
    let collection: String?
    let keepsWinners: Bool
    let isStrict: Bool
    /// Whether nothing is stored.
    let isDryRun: Bool

    /// Reads the parameters of a query.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    init(_ query: HTTPQuery) throws {
        func text(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
        name = text("name") ?? "upload"
        kind = try text("from").flatMap { $0 == "auto" ? nil : $0 }.map { name in
            guard let kind = ForeignDatabase.Kind(rawValue: name) else {
                throw Self.unknown("from", ForeignDatabase.Kind.allCases.map(\.rawValue))
            }
            return kind
        }
        encoding = try text("encoding").map { name in
            guard let encoding = TextEncoding(rawValue: name.lowercased()) else {
                throw Self.unknown("encoding", TextEncoding.allCases.map(\.rawValue))
            }
            return encoding
        }
        conflict = try text("on_conflict").map { name in
            guard let conflict = ImportConflict(rawValue: name) else {
                throw Self.unknown("on_conflict", ImportConflict.allCases.map(\.rawValue))
            }
            return conflict
        }
        (idMember, collection) = (text("id"), text("collection"))
        (keepsWinners, isStrict) = (query.isTrue("keep_winner"), query.isTrue("strict"))
        isDryRun = query.isTrue("dry_run")
    }

    private static func unknown(_ name: String, _ known: [String]) -> HTTPError {
        .queryParse("`\(name)` must be one of \(known.joined(separator: ", ")).")
    }

    /// The options for a database of another product, or for a look at a dump.
    ///
    /// - Parameter source: The opened file.
    /// - Returns: The options.
    /// - Throws: ``HTTPError`` with status 400 for a parameter that a file of this kind has no use for.
    func options(for source: ForeignDatabase) throws -> ImportOptions {
        let (others, files): ([(String, Bool)], String) =
            if case .dump = source.content {
                ([("collection", collection != nil), ("keep_winner", keepsWinners)], "databases of other products")
            } else {
                (
                    [("id", idMember != nil), ("on_conflict", conflict != nil), ("encoding", encoding != nil)],
                    "documents and dumps"
                )
            }
        if let other = others.first(where: { $0.1 }) {
            throw HTTPError.queryParse("`\(other.0)` is for \(files), and the file is \(source.product).")
        }
        let all = source.collections
        guard let wanted = collection ?? all.first, all.contains(wanted) else {
            throw HTTPError.queryParse(
                "There is no collection \(collection ?? ""); there are \(all.joined(separator: ", ")).")
        }
        return ImportOptions(
            collection: wanted, keepsWinners: keepsWinners, isStrict: isStrict, idAttribute: idMember)
    }
}
