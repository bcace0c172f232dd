#if canImport(CCurl)
internal import SettlePlatform

/// One running request, shared by its readers and the thread that runs curl.
final class CurlTransfer: Sendable {
    let request: HTTPRequest
    private let head = Promise<Result<CurlHead, TransportError>>()
    /// The received bytes of the response that were not read yet. While the pipe is full, curl pauses.
    let body = BytePipe(capacity: 256 << 10)
    let upload: CurlUpload
    /// The time at which the request times out, whatever its progress.
    let deadline: ContinuousClock.Instant?
    private let mailbox: CurlMailbox

    init(_ request: HTTPRequest, mailbox: CurlMailbox) {
        self.request = request
        self.mailbox = mailbox
        deadline = request.deadline
        upload = CurlUpload(request.body)
        upload.begin { [weak self] in if let self { mailbox.post(.resume(self)) } }
        body.onRoom { [weak self] in if let self { mailbox.post(.resume(self)) } }
    }

    /// Whether the head has arrived, or the transfer has ended without one.
    var isDecided: Bool { head.value != nil }

    /// Starts the request and waits for the head of its response.
    func start() async throws -> CurlHead {
        try await withTaskCancellationHandler {
            if !isDecided, !mailbox.post(.start(self)) {
                end(.failure(TransportError(.failed, "curl could not be started, or the client is closed")))
            }
            return try await head.get().get()
        } onCancel: {
            cancel()
        }
    }

    /// Passes on the head.
    func put(_ head: CurlHead) { self.head.fulfil(.success(head)) }

    /// Waits for the next piece of the body; `nil` at the end.
    func next() async throws -> [UInt8]? { try await body.next { self.cancel() } }

    /// Ends the transfer if it still runs; waiting readers are notified.
    func cancel() {
        let error = TransportError(.cancelled, "the request to \(request.url.authority) was cancelled")
        if end(.failure(error)) { mailbox.post(.cancel(self)) }
    }

    /// Records the end of the transfer; returns false if it had already ended. Received bytes can still be read,
    /// unless the transfer was cancelled.
    @discardableResult
    func end(_ result: Result<Void, TransportError>) -> Bool {
        upload.cancel()
        switch result {
        case .success:
            head.fulfil(.failure(TransportError(.badAnswer, "the answer has no head")))
            return body.finish()
        case .failure(let error):
            head.fulfil(.failure(error))
            return error.code == .cancelled ? body.cut(error) : body.finish(error)
        }
    }
}
#endif
