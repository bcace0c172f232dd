/// One request on its way, shared by those who wait for it and the thread that curl runs on.
final class CurlTransfer: Sendable {
    let request: HTTPClientRequest
    let inbox: CurlInbox
    let upload: CurlUpload
    /// When the request fails, however far it has come.
    let deadline: ContinuousClock.Instant?
    private let mailbox: CurlMailbox

    init(_ request: HTTPClientRequest, mailbox: CurlMailbox) {
        self.request = request
        self.mailbox = mailbox
        deadline = request.timeout.map { ContinuousClock.now + $0 }
        inbox = CurlInbox()
        upload = CurlUpload(request.body)
        upload.begin { [weak self] in if let self { mailbox.post(.resume(self)) } }
    }

    /// Starts the request and waits for the head of its answer.
    func start() async throws -> CurlHead {
        try await withTaskCancellationHandler {
            try await inbox.head {
                if !mailbox.post(.start(self)) {
                    self.end(.failure(HTTPClientError(.failed, "curl could not be started, or the client is closed")))
                }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Waits for the next piece of the body; `nil` behind the last.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            let (piece, madeRoom) = try await inbox.next()
            if madeRoom { mailbox.post(.resume(self)) }
            return piece
        } onCancel: {
            cancel()
        }
    }

    /// Ends the transfer if it has not ended; waiting readers are notified.
    func cancel() {
        let error = HTTPClientError(.cancelled, "the request to \(request.url.authority) was cancelled")
        if end(.failure(error)) { mailbox.post(.cancel(self)) }
    }

    /// Says how the transfer ended; returns false when it had ended before.
    @discardableResult
    func end(_ result: Result<Void, HTTPClientError>) -> Bool {
        upload.cancel()
        return inbox.end(result)
    }
}
