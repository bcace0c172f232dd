#if SETTLE_APPLE && canImport(FoundationNetworking)
internal import Foundation
internal import FoundationNetworking
internal import SettlePlatform

/// Passes on received bytes on Linux, where Foundation's `URLSession` lacks `bytes(for:)`; only for tests of the
/// code around it.
final class URLSessionFeed: NSObject, URLSessionDataDelegate, Sendable {
    private struct Transfer {
        var head: CheckedContinuation<URLResponse, any Error>?
        let pieces: AsyncThrowingStream<[UInt8], any Error>.Continuation
    }

    private let transfers = Guarded<[Int: Transfer]>([:])

    /// Starts a task; returns its response, and a function that returns the pieces of its body.
    func start(_ task: URLSessionDataTask) async throws -> (URLResponse, HTTPBody.Producer) {
        let (stream, pieces) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let response = try await withCheckedThrowingContinuation { head in
            transfers.withLock { $0[task.taskIdentifier] = Transfer(head: head, pieces: pieces) }
            task.resume()
        }
        let next: HTTPBody.Producer = {
            for try await piece in stream { return piece }
            if Task.isCancelled { throw CancellationError() }
            return nil
        }
        return (response, next)
    }

    func urlSession(
        _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let head = transfers.withLock { transfers in
            defer { transfers[dataTask.taskIdentifier]?.head = nil }
            return transfers[dataTask.taskIdentifier]?.head
        }
        head?.resume(returning: response)
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard !data.isEmpty else { return }
        _ = transfers.withLock { $0[dataTask.taskIdentifier] }?.pieces.yield(Array(data))
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.head?.resume(throwing: error ?? URLError(.badServerResponse))
        transfer?.pieces.finish(throwing: error)
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest _: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
#endif
