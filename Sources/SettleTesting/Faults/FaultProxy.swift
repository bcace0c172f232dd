internal import SettlePlatform

/// A fault-injecting proxy on this machine in front of an HTTP server, driven by a ``FaultPlan``.
///
///     let proxy = try FaultProxy(to: server.port, plan: .random(seed: 7, rate: 0.2))
///     // … a client that uses proxy.address …
///     proxy.follow(.none)
///     // … and must get through now, or print(proxy.report) …
///     proxy.stop()
///
/// To a client it behaves like the server: Settle's, CouchDB's, or any other with HTTP/1.1 without TLS. Bytes are
/// forwarded unchanged in both directions, even bytes that are not HTTP, except where a ``Fault`` applies. Each
/// connection of a client has its own connection to the server, which ends with it.
///
/// It runs on its own threads, one per connection, and never blocks those of Swift's tasks. Memory is bounded: some
/// hundred kilobytes per connection, and up to ``longestHeld`` bytes while a request is delivered twice. It ends on
/// ``stop()``, when the object is released, and when its lifetime is over.
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

    /// Starts to listen on a port of 127.0.0.1 that the system chooses.
    ///
    /// - Parameters:
    ///   - serverPort: The port of the server, on this machine. The server may be started later.
    ///   - plan: The faults.
    ///   - recordLimit: The number of newest records to keep.
    ///   - connectionLimit: The maximum number of concurrent connections; further ones wait.
    ///   - lifetime: The time after which the proxy ends automatically.
    /// - Throws: ``FaultProxyError`` when the system can't create a socket or thread.
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

    /// The port of the proxy, which never changes.
    public var port: Int { core.port }

    /// The base URL for clients: `http://127.0.0.1:` and the port.
    public var address: String { "http://127.0.0.1:\(port)" }

    /// The current plan.
    public var plan: FaultPlan { core.ledger.plan }

    /// Switches to another plan with the next request; the new plan counts requests from 0.
    public func follow(_ plan: FaultPlan) { core.ledger.follow(plan) }

    /// Ends all connections, and refuses new ones until ``comeUp()``, like a server that is down.
    ///
    /// When this returns, clients can no longer connect. A proxy that is already down stays down, even past the end
    /// of a ``Fault/refuse(_:)``.
    public func goDown() { core.goDown() }

    /// Listens again, on the same port. Does nothing if it is listening, or after ``stop()``.
    ///
    /// - Throws: ``FaultProxyError`` when the system can't create a socket or thread.
    public func comeUp() throws(FaultProxyError) { try core.comeUp() }

    /// Ends all connections and threads before it returns. The records are kept.
    ///
    /// It takes milliseconds: no thread waits for anything else.
    public func stop() { core.stop() }

    /// The newest requests with their faults, in the order of arrival.
    public var records: [FaultRecord] { core.ledger.records }

    /// The number of requests by fault; requests whose fault did not apply count as ``Fault/Kind/none``.
    public var statistic: [Fault.Kind: Int] { core.ledger.statistic }

    /// The plan, the statistic and the records, for diagnosing a failure.
    public var report: String {
        let counts = statistic.sorted { $0.key < $1.key }.map { "\($0.key.rawValue) \($0.value)" }
        let lines = ["plan: \(plan)", "requests: \(counts.joined(separator: ", "))"] + records.map(\.description)
        return lines.joined(separator: "\n")
    }
}

/// A failed system call of a ``FaultProxy``.
public struct FaultProxyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call that failed, such as `bind`.
    public let call: String
    /// The error number, `errno`.
    public let number: Int32

    /// Creates the error of a call that has just failed.
    init(_ call: String, _ number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    /// The call and the system's error message.
    public var description: String { "\(call): \(String(cString: strerror(number)))" }
}
