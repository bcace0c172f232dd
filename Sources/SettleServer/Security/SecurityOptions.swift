/// Who may log in to a server, how, and what it does about those who may not.
public struct SecurityOptions: Sendable {
    /// Administrators and their passwords, in addition to those of the server's settings file; kept in memory only.
    public var admins: [String: String] = [:]
    /// How often new passwords are hashed; 600,000 unless set, as in CouchDB 3.5.
    public var passwordIterations = 600_000
    /// How many passwords are hashed at the same time; 2 unless set.
    public var passwordWorkers = 2
    /// How many seconds a session lasts without a request; 600 unless set.
    public var sessionTimeout = 600
    /// Whether the browser may keep a session's cookie when it ends; true unless set.
    public var hasPersistentCookies = true
    /// The attribute `SameSite` of a session's cookie; none unless set, as in CouchDB.
    public var sameSite: SameSite?
    /// The attribute `Domain` of a session's cookie; none unless set.
    public var cookieDomain: String?
    /// How many failed logins lock a name for an address; 5 unless set, 0 for never.
    public var lockoutThreshold = 5
    /// How many seconds such a lock lasts; 300 unless set.
    public var lockoutSeconds = 300.0
    /// Who may do without logging in; everybody, where a database lets them, unless set.
    public var anonymousAccess = AnonymousAccess.everywhere
    /// Whether only administrators may list databases; true unless set.
    public var isListingForAdmins = true
    /// The members of users' documents that everybody may read; none unless set.
    public var publicUserFields: Set<String> = []
    /// Whether the security object of `_users` may be changed, so that people can sign up; false unless set.
    public var isUsersSecurityEditable = false
    /// The header `WWW-Authenticate` of answers with status 401, which has browsers ask for a password; none unless set.
    public var challenge: String?
    /// Signed tokens as credentials; none unless set.
    public var tokens: TokenOptions?
    /// Names that a proxy in front vouches for; none unless set.
    public var proxy: ProxyOptions?
    /// Whether administrators may change some settings over HTTP, which then last: sizes of documents and requests, which pages
    /// of other origins may use the server, whether text indexes are made. False unless set.
    public var allowsLiveSettings = false
    /// The proxies in front of the server whose `X-Forwarded-For` is taken for the address of a request's client, which the
    /// lock-out and the log then have; none unless set, and then the header means nothing.
    public var trustedProxies: [NetworkRange] = []
    /// Pages of other origins that may use the server; none unless set.
    public var crossOrigin: CrossOriginOptions?

    /// The values of the attribute `SameSite`.
    public enum SameSite: String, Sendable, CaseIterable {
        /// Sent with every request, also of pages of other sites.
        case none = "None"
        /// Sent when a link is followed, but not with what pages of other sites load.
        case lax = "Lax"
        /// Sent with requests of pages of the same site only.
        case strict = "Strict"
    }

    /// Who may do without logging in.
    public enum AnonymousAccess: Sendable {
        /// Everybody, where a database lets them.
        case everywhere
        /// Everybody for `/_up`, nobody for anything else.
        case upOnly
        /// Nobody.
        case nowhere
    }

    /// Makes options with the defaults.
    public init() {}
}
