#if canImport(CCurl)
internal import CCurl
internal import SettlePlatform

/// Creates the thread that runs a client's curl.
package enum CurlThread {
    /// Whether curl can be used in this process.
    package static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Starts the thread; if that fails, the mailbox stays closed.
    static func start(_ mailbox: CurlMailbox, _ options: TransportOptions) {
        guard isReady, let multi = curl_multi_init() else { return }
        mailbox.open(multi)
        // Unchecked: from now on only that thread uses the handle, so it needs no lock.
        nonisolated(unsafe) let own = multi
        do {
            try SystemThread.detach { CurlLoop(multi: own, mailbox: mailbox, options: options).run() }
        } catch {
            _ = mailbox.retire()
            curl_multi_cleanup(multi)
        }
    }
}
#endif
