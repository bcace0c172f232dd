#if os(Linux)
internal import SettlePlatform

/// Watches the network on a thread of its own.
final class NetworkWatch: Sendable {
    /// How many seconds pass between two looks where nobody tells.
    private static let pause: UInt32 = 5

    private let body: @Sendable () -> Void

    /// - Parameter body: Is called after each change.
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Begins; without a thread to be had, nothing is ever told.
    func start() {
        try? SystemThread.detach { self.run() }
    }

    private func run() {
        let socket = RouteSocket()
        var (known, isTold) = (NetworkAddresses.now(), socket != nil)
        while true {
            var hasOtherWay = false
            if isTold, let told = socket?.wait() {
                hasOtherWay = told
            } else {
                isTold = false
                sleep(Self.pause)
            }
            let now = NetworkAddresses.now()
            guard hasOtherWay || now != known else { continue }
            known = now
            body()
        }
    }
}
#elseif canImport(Network)
internal import Dispatch
internal import Network

/// Watches the network.
final class NetworkWatch: Sendable {
    private let body: @Sendable () -> Void
    private let monitor = NWPathMonitor()

    /// - Parameter body: Is called after each change.
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Begins.
    func start() {
        monitor.pathUpdateHandler = { [body] _ in body() }
        monitor.start(queue: DispatchQueue(label: "settle.network"))
    }
}
#endif
