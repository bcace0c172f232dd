/// A proxy on this machine in front of an HTTP server, that lets requests fail as a ``FaultPlan`` says.
///
///     let proxy = try FaultProxy(to: server.port, plan: .random(seed: 7, rate: 0.2))
///     // … a client that uses proxy.address …
///     proxy.follow(.none)
///     // … and must get through now, or print(proxy.report) …
///     proxy.stop()
///
/// To a client it is the server: Settle's, CouchDB's, or another that speaks HTTP/1.1 without TLS. Bytes pass as they are
/// in both directions, also bytes that are no HTTP, except where a ``Fault`` is to happen. A connection of a client has
/// one to the server, which ends with it.
///
/// It works on threads of its own, one for each connection, and never blocks those of Swift's tasks. Memory is bounded:
/// some hundred kilobytes for each connection, and up to ``longestHeld`` bytes while a request is delivered twice.
/// It ends on ``stop()``, when the object goes, and when its lifetime is over.
///
/// ## Topics
/// ### What happens
/// - ``FaultPlan``
/// - ``Fault``
/// - ``follow(_:)``
/// - ``goDown()``
/// - ``comeUp()``
/// ### What happened
/// - ``statistic``
/// - ``records``
/// - ``report``
public final class FaultProxy: Sendable {
    /// The longest request that is delivered twice, in bytes.
    public static let longestHeld = 8 * 1024 * 1024

    private let core: ProxyCore

    /// Begins to listen at a port of 127.0.0.1 that the system chooses.
    ///
    /// - Parameters:
    ///   - serverPort: The port of the server, on this machine. Nobody needs to listen there yet.
    ///   - plan: What happens to requests.
    ///   - recordLimit: How many records are kept, the newest.
    ///   - connectionLimit: How many connections are served at a time; others wait for their turn.
    ///   - lifetime: After how long the proxy ends by itself.
    /// - Throws: ``FaultProxyError`` when the system has no socket or thread to give.
    public init(
        to serverPort: Int, plan: FaultPlan = .none, recordLimit: Int = 1000, connectionLimit: Int = 256,
        lifetime: Duration = .seconds(600)
    ) throws(FaultProxyError) {
        core = try ProxyCore(
            serverPort: serverPort, ledger: FaultLedger(plan, limit: recordLimit), connectionLimit: connectionLimit,
            lifetime: lifetime)
        try core.comeUp()
    }

    deinit { stop() }

    /// The port it listens at, the same all its life.
    public var port: Int { core.port }

    /// What a client writes in front of a path: `http://127.0.0.1:` and the port.
    public var address: String { "http://127.0.0.1:\(port)" }

    /// The plan that is followed.
    public var plan: FaultPlan { core.ledger.plan }

    /// Follows another plan from the next request on; its requests are counted from 0.
    public func follow(_ plan: FaultPlan) { core.ledger.follow(plan) }

    /// Ends all connections, and lets new ones be refused until ``comeUp()``, as a server that is down.
    ///
    /// When this returns, nobody can connect any more. Where it is down already it stays so, also past the time of a
    /// ``Fault/refuse(_:)``.
    public func goDown() { core.goDown() }

    /// Listens again, at the same port; nothing happens where it does, or after ``stop()``.
    ///
    /// - Throws: ``FaultProxyError`` when the system has no socket or thread to give.
    public func comeUp() throws(FaultProxyError) { try core.comeUp() }

    /// Ends all connections and threads; when this returns, they have gone. The records stay.
    ///
    /// It takes milliseconds: no thread waits for anything else.
    public func stop() { core.stop() }

    /// What was done to the newest requests, in the order in which they came.
    public var records: [FaultRecord] { core.ledger.records }

    /// How many requests met which fault; those that a fault did not fit count among ``Fault/Kind/none``.
    public var statistic: [Fault.Kind: Int] { core.ledger.statistic }

    /// The plan, the statistic and the records, for people who look for the reason of a failure.
    public var report: String {
        let counts = statistic.sorted { $0.key < $1.key }.map { "\($0.key.rawValue) \($0.value)" }
        let lines = ["plan: \(plan)", "requests: \(counts.joined(separator: ", "))"] + records.map(\.description)
        return lines.joined(separator: "\n")
    }
}
