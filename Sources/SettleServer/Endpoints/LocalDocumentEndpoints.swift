/// Paths of local documents that lead nowhere.
enum LocalDocumentEndpoints {
    /// `/{db}/_local`
    static let noID: Endpoint = { _ in throw HTTPError.badRequest("Invalid _local document id.") }

    /// `/{db}/_local/{local}/{file}`
    static let noAttachments: Endpoint = { _ in
        throw HTTPError.badRequest("_local documents do not accept attachments.")
    }
}
