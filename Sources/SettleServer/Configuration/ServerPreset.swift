/// Settings for an app that expects a server of a certain kind.
///
/// A preset replaces defaults only: what a configuration sets counts.
public enum ServerPreset: String, CaseIterable, Sendable {
    /// Obsidian with its plug-in Self-hosted LiveSync: pages of the app may use the server, on each kind of device, every
    /// request is authenticated, and documents may be as large as the plug-in demands. Its check of the server's set-up, which
    /// reads and writes the configuration, passes.
    case obsidian

    /// The options of authentication and access.
    public var security: SecurityOptions {
        var options = SecurityOptions()
        switch self {
        case .obsidian:
            options.anonymousAccess = .nowhere
            options.challenge = "Basic realm=\"couchdb\""
            var pages = CrossOriginOptions(origins: ["app://obsidian.md", "capacitor://localhost", "http://localhost"])
            pages.allowsCredentials = true
            options.crossOrigin = pages
            options.allowsLiveSettings = true
        }
        return options
    }

    /// The largest body of a document, in bytes.
    public var largestDocument: Int {
        switch self {
        case .obsidian: 50_000_000
        }
    }
}
