/// How a transport listens, and what it allows.
struct TransportOptions: Sendable {
    /// The address to listen on: a host's name, or an IPv4 or IPv6 address.
    var host = "127.0.0.1"
    /// The port, 0 for any that is free.
    var port = 5984
    /// How many connections there may be at the same time.
    var connectionLimit = 10_000
    /// After how many seconds without any progress a connection is closed; waiting streams do not count.
    var idleTimeout = 60
    /// How many bytes a request's first line and header may have together, with some room for the library's own use.
    var headerLimit = 40 * 1024
    /// How large the body of a request may be at all; asked once for each request.
    var bodyLimit: @Sendable () -> Int64 = { 4 << 30 }
    /// How many handlers may run at the same time.
    var workers = 32
    /// How many requests for feeds, and streams that were woken, may run at the same time.
    var feedThreads = 4
    /// How many threads may put parts of long bodies into files at the same time.
    var uploads = 8
    /// The folder in which long bodies take their space until they are complete.
    var uploadFolder = "/tmp"
    /// The proxies whose word is taken for where requests come from.
    var trustedProxies = TrustedProxies()
    /// What the server shows who it is with, for TLS.
    var certificate: Certificate?
    /// Called with each finished request, on a thread that must not wait.
    var observer: (@Sendable (RequestRecord) -> Void)?
    /// Called with what an operator should look at, such as an answer that can't be sent as it was made.
    var warn: (@Sendable (String) -> Void)?
}
