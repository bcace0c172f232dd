#if canImport(CCurl)
internal import CCurl
internal import SettlePlatform

/// The thread that runs curl: starts and ends transfers on command, and sleeps in between.
///
///     mailbox ─→ waiting, one queue per host ─→ running, a bounded number per host ─→ ended
///
/// Only that thread uses this object.
final class CurlLoop {
    private struct Host {
        var running = 0
        var waiting: [CurlTransfer] = []
    }

    private let multi: UnsafeMutableRawPointer
    private let mailbox: CurlMailbox
    private let options: TransportOptions
    private var hosts: [String: Host] = [:]
    private var running: [ObjectIdentifier: CurlExchange] = [:]
    /// Handles to reuse, because creating one is expensive.
    private var idle: [UnsafeMutableRawPointer] = []
    private var now = ContinuousClock.now
    /// The time at which the next transfer may time out.
    private var nextLook: ContinuousClock.Instant?
    private var isClosed = false

    init(multi: UnsafeMutableRawPointer, mailbox: CurlMailbox, options: TransportOptions) {
        self.multi = multi
        self.mailbox = mailbox
        self.options = options
        let limit = options.connections
        settle_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limit)
        // Otherwise the number of cached connections would shrink with the number of transfers.
        settle_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(32, 2 * limit))
        settle_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    }

    /// Runs until the client is closed.
    func run() {
        blockSignals()
        while !isClosed {
            now = .now
            for command in mailbox.dequeueAll() { obey(command) }
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            for exchange in running.values { exchange.handHeadOn() }
            endTransfers()
            endLateTransfers()
            if !isClosed, mailbox.fallAsleep() { curl_multi_poll(multi, nil, 0, sleepingTime, nil) }
        }
        let error = TransportError(.cancelled, "the client was closed")
        for exchange in Array(running.values) { finish(exchange, .failure(error)) }
        for case .start(let transfer) in mailbox.retire() { transfer.end(.failure(error)) }
        for host in hosts.values { for transfer in host.waiting { transfer.end(.failure(error)) } }
        for easy in idle { curl_easy_cleanup(easy) }
        curl_multi_cleanup(multi)
    }

    /// Makes a write to a closed connection fail here, instead of ending the process.
    private func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
    }

    private func obey(_ command: CurlMailbox.Command) {
        switch command {
        case .start(let transfer):
            // A cancellation may be faster than the start.
            guard !transfer.isDecided else { return }
            let origin = transfer.request.url.origin
            hosts[origin, default: Host()].waiting.append(transfer)
            if let deadline = transfer.deadline { lookAgain(at: deadline) }
            startWaiting(origin)
        case .cancel(let transfer):
            if let exchange = running[ObjectIdentifier(transfer)] {
                finish(exchange, .success(()))
            } else {
                hosts[transfer.request.url.origin]?.waiting.removeAll { $0 === transfer }
            }
        case .resume(let transfer): running[ObjectIdentifier(transfer)]?.resume()
        case .close: isClosed = true
        }
    }

    /// Starts waiting transfers of a host, up to the limit.
    private func startWaiting(_ origin: String) {
        while let host = hosts[origin], host.running < options.connections, !host.waiting.isEmpty {
            guard let transfer = hosts[origin]?.waiting.removeFirst() else { return }
            start(transfer, origin)
        }
        if let host = hosts[origin], host.running == 0, host.waiting.isEmpty { hosts[origin] = nil }
    }

    private func start(_ transfer: CurlTransfer, _ origin: String) {
        guard let easy = idle.popLast() ?? curl_easy_init() else {
            transfer.end(.failure(TransportError(.failed, "curl has no memory for another request")))
            return
        }
        do throws(TransportError) {
            let exchange = try CurlExchange(transfer, easy: easy, origin: origin, options: options, now: now)
            running[ObjectIdentifier(transfer)] = exchange
            hosts[origin]?.running += 1
            curl_multi_add_handle(multi, easy)
            if let idleTimeout = transfer.request.idleTimeout { lookAgain(at: now + idleTimeout) }
        } catch {
            curl_easy_cleanup(easy)
            transfer.end(.failure(error))
        }
    }

    private func endTransfers() {
        var easy: UnsafeMutableRawPointer?
        var context: UnsafeMutableRawPointer?
        var code = CURLE_OK
        while settle_curl_next_ended(multi, &easy, &context, &code) != 0 {
            guard let exchange = CurlExchange.of(context) else { continue }
            let isWhole = code == CURLE_OK && exchange.head.isComplete
            if code == CURLE_OK, !isWhole { code = CURLE_WEIRD_SERVER_REPLY }
            finish(exchange, isWhole ? .success(()) : .failure(CurlFailure.error(code, exchange)))
        }
    }

    private func finish(_ exchange: CurlExchange, _ result: Result<Void, TransportError>) {
        curl_multi_remove_handle(multi, exchange.easy)
        if idle.count < 32 {
            curl_easy_reset(exchange.easy)
            idle.append(exchange.easy)
        } else {
            curl_easy_cleanup(exchange.easy)
        }
        running[ObjectIdentifier(exchange.transfer)] = nil
        hosts[exchange.origin]?.running -= 1
        exchange.transfer.end(result)
        startWaiting(exchange.origin)
    }

    /// The longest time to sleep, in milliseconds; curl's own timers may wake it earlier.
    private var sleepingTime: Int32 {
        guard let nextLook else { return 60_000 }
        return Int32(clamping: min(60_000, max(0, (nextLook - .now).milliseconds)))
    }

    private func lookAgain(at time: ContinuousClock.Instant) {
        nextLook = nextLook.map { min($0, time) } ?? time
    }

    /// Ends transfers that have timed out. Checks only when one may have.
    private func endLateTransfers() {
        guard let look = nextLook, look <= now else { return }
        nextLook = nil
        for exchange in Array(running.values) {
            exchange.recordStalls(now)
            let request = exchange.transfer.request
            let place = request.url.authority
            if let idleTimeout = request.idleTimeout {
                guard now < exchange.lastActivity + idleTimeout else {
                    let message = "nothing moved between here and \(place) for \(idleTimeout)"
                    finish(exchange, .failure(TransportError(.timedOut, message)))
                    continue
                }
                lookAgain(at: exchange.lastActivity + idleTimeout)
            }
            if let deadline = exchange.transfer.deadline { endIfLate(exchange.transfer, deadline, exchange) }
        }
        for transfer in hosts.values.flatMap(\.waiting) {
            if let deadline = transfer.deadline { endIfLate(transfer, deadline, nil) }
        }
    }

    private func endIfLate(_ transfer: CurlTransfer, _ deadline: ContinuousClock.Instant, _ exchange: CurlExchange?) {
        guard deadline <= now else { return lookAgain(at: deadline) }
        let url = transfer.request.url
        let timeout = transfer.request.timeout ?? .zero
        let error = TransportError(.timedOut, "the request to \(url.authority) took longer than \(timeout)")
        if let exchange { return finish(exchange, .failure(error)) }
        hosts[url.origin]?.waiting.removeAll { $0 === transfer }
        transfer.end(.failure(error))
    }
}
#endif
