/// The current settings that may change while the server runs.
struct LiveSettings: Sendable {
    /// Whether the security object of `_users` may be changed.
    var isUsersSecurityEditable: Bool
    /// Whether pages of other origins may use the server.
    var isCrossOriginOn: Bool
    /// The allowed origins, methods and headers.
    var crossOrigin: CrossOriginOptions
    /// The largest body of a document, in bytes.
    var largestDocument: Int
    /// The largest body of a request, in bytes.
    var largestUpload: Int
    /// The documents that one request may write, and get.
    var bulkDocuments: Int
    var bulkGets: Int
    /// Whether `POST /{db}/_index` creates text indexes.
    var makesTextIndexes: Bool

    /// Whether a plus in the path of a request stands for a space.
    var decodesPlusToSpace: Bool

    /// The settings that a server starts with.
    init(_ options: ServerOptions) {
        isUsersSecurityEditable = options.security.isUsersSecurityEditable
        isCrossOriginOn = options.security.crossOrigin != nil
        crossOrigin = options.security.crossOrigin ?? CrossOriginOptions(origins: [])
        largestDocument = options.largestDocument
        largestUpload = Int(clamping: options.largestUpload)
        (bulkDocuments, bulkGets) = (options.bulkDocuments, options.bulkGets)
        makesTextIndexes = options.makesTextIndexes
        decodesPlusToSpace = options.decodesPlusToSpace
    }

    /// The settings that a server starts with, with the stored changes by `section/key` that may still be made; the log has those
    /// that don't fit the others.
    init(_ options: ServerOptions, stored: [String: String]) {
        self.init(options)
        for (name, text) in stored.sorted(by: { $0.key < $1.key }) {
            let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2, let setting = LiveSetting.find(parts[0], parts[1]),
                options.security.allowsLiveSettings || setting.isSwitch
            else { continue }
            do { try setting.set(text, in: &self) } catch {
                options.log?.warning("the stored setting \(name) was not taken: \(HTTPError(error).reason)")
            }
        }
    }

    /// The origins that are allowed now; `nil` for none.
    var otherOrigins: CrossOriginOptions? { isCrossOriginOn && !crossOrigin.origins.isEmpty ? crossOrigin : nil }
}
