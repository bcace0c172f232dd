internal import SettleHTTP
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
