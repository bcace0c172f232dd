internal import Dispatch
internal import SettlePlatform
internal import SettleReplication

/// The body of a request of this process, read by a thread that may wait for the task that produces it.
final class ProducedBody: RequestBody {
    let declaredLength: Int64?
    private let rest: Guarded<TransportRequestBody.Producer?>

    init(_ body: TransportRequestBody) {
        switch body {
        case .none: (declaredLength, rest) = (0, Guarded(nil))
        case .bytes(let bytes):
            declaredLength = Int64(bytes.count)
            let left = Guarded<[UInt8]?>(bytes.isEmpty ? nil : bytes)
            rest = Guarded {
                left.withLock { left in
                    defer { left = nil }
                    return left
                }
            }
        case .stream(let length, let open): (declaredLength, rest) = (length, Guarded(open()))
        }
    }

    func read() throws -> [UInt8]? {
        guard let produce = rest.withLock(\.self) else { return nil }
        let result = Guarded<Result<[UInt8]?, any Error>>(.success(nil))
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                let piece = try await produce()
                result.withLock { $0 = .success(piece) }
            } catch { result.withLock { $0 = .failure(error) } }
            isDone.signal()
        }
        isDone.wait()
        return try result.withLock(\.self).get()
    }
}

extension WorkerPool {
    /// Runs a job on one of the threads, and waits for the value it hands to its taker without holding a thread.
    ///
    /// - Throws: What the job hands over, and `CancellationError` when the task is cancelled; the job goes on then.
    func value<Value: Sendable>(
        _ job: @escaping @Sendable (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        let waiter = Guarded<(continuation: CheckedContinuation<Value, any Error>?, isDone: Bool)>((nil, false))
        @Sendable func finish(_ result: Result<Value, any Error>) {
            let continuation = waiter.withLock { waiter in
                defer { waiter = (nil, true) }
                return waiter.continuation
            }
            continuation?.resume(with: result)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDone = waiter.withLock { waiter in
                    if !waiter.isDone { waiter.continuation = continuation }
                    return waiter.isDone
                }
                if isDone { return continuation.resume(throwing: CancellationError()) }
                submit { job(finish) }
            }
        } onCancel: {
            finish(.failure(CancellationError()))
        }
    }
}
