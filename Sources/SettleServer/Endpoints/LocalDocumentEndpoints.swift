/// Paths of local documents that lead nowhere.
enum LocalDocumentEndpoints {
    /// `/{db}/_local`
    static let noID = all { _ in throw HTTPError.badRequest("Invalid _local document id.") }

    /// `/{db}/_local/{local}/{file}`
    static let noAttachments = all { _ in
        throw HTTPError.badRequest("_local documents do not accept attachments.")
    }

    private static func all(_ endpoint: @escaping Endpoint) -> [String: Endpoint] {
        Dictionary(uniqueKeysWithValues: ["GET", "PUT", "POST", "DELETE", "COPY"].map { ($0, endpoint) })
    }
}
