#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A thread of the proxy's own, which has to be joined once.
///
/// Unchecked: the handle is immutable.
struct ProxyThread: @unchecked Sendable {
    private let handle: pthread_t

    /// Starts a thread.
    init(_ body: @escaping @Sendable () -> Void) throws(FaultProxyError) {
        let work = Unmanaged.passRetained(Work(body))
        #if canImport(Glibc)
        var thread: pthread_t = 0
        let code = pthread_create(&thread, nil, { Work.start($0) }, work.toOpaque())
        let handle: pthread_t? = thread
        #else
        var handle: pthread_t?
        let code = pthread_create(&handle, nil, { Work.start($0) }, work.toOpaque())
        #endif
        guard code == 0, let handle else {
            work.release()
            throw FaultProxyError("pthread_create", code)
        }
        self.handle = handle
    }

    /// Waits for its end.
    func join() { pthread_join(handle, nil) }
}

/// What a new thread is to do.
private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    static func start(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }
}
