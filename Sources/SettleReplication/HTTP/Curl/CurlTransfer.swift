#if canImport(CCurl)
/// One request in flight, shared by its readers and the thread that runs curl.
final class CurlTransfer: Sendable {
    let request: TransportRequest
    let inbox: CurlInbox
    let upload: CurlUpload
    /// When the request times out, however far it has come.
    let deadline: ContinuousClock.Instant?
    private let mailbox: CurlMailbox

    init(_ request: TransportRequest, mailbox: CurlMailbox) {
        self.request = request
        self.mailbox = mailbox
        deadline = request.timeout.map { ContinuousClock.now + $0 }
        inbox = CurlInbox()
        upload = CurlUpload(request.body)
        upload.begin { [weak self] in if let self { mailbox.post(.resume(self)) } }
    }

    /// Starts the request and waits for the head of its response.
    func start() async throws -> CurlHead {
        try await withTaskCancellationHandler {
            try await inbox.head {
                if !mailbox.post(.start(self)) {
                    self.end(.failure(TransportError(.failed, "curl could not be started, or the client is closed")))
                }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Waits for the next piece of the body; `nil` at the end.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            let (piece, madeRoom) = try await inbox.next()
            if madeRoom { mailbox.post(.resume(self)) }
            return piece
        } onCancel: {
            cancel()
        }
    }

    /// Ends the transfer if it still runs; waiting readers are notified.
    func cancel() {
        let error = TransportError(.cancelled, "the request to \(request.url.authority) was cancelled")
        if end(.failure(error)) { mailbox.post(.cancel(self)) }
    }

    /// Records how the transfer ended; returns false if it had ended before.
    @discardableResult
    func end(_ result: Result<Void, TransportError>) -> Bool {
        upload.cancel()
        return inbox.end(result)
    }
}
#endif
