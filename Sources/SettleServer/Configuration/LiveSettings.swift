/// The settings that may change while the server runs, as they are now.
struct LiveSettings: Sendable {
    /// Whether the security object of `_users` may be changed.
    var isUsersSecurityEditable: Bool
    /// Whether pages of other origins may use the server.
    var isCrossOriginOn: Bool
    /// Which pages, and how.
    var crossOrigin: CrossOriginOptions
    /// The largest body of a document, in bytes.
    var largestDocument: Int
    /// The largest body of a request, in bytes.
    var largestUpload: Int
    /// Whether `POST /{db}/_index` makes indexes of type `text`.
    var makesTextIndexes: Bool

    /// The settings that a server starts with.
    init(_ options: ServerOptions) {
        isUsersSecurityEditable = options.security.isUsersSecurityEditable
        isCrossOriginOn = options.security.crossOrigin != nil
        crossOrigin = options.security.crossOrigin ?? CrossOriginOptions(origins: [])
        largestDocument = options.largestDocument
        largestUpload = Int(clamping: options.largestUpload)
        makesTextIndexes = options.makesTextIndexes
    }

    /// The pages of other origins that may use the server now; `nil` for none.
    var otherOrigins: CrossOriginOptions? { isCrossOriginOn && !crossOrigin.origins.isEmpty ? crossOrigin : nil }
}
