#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A thread of the system, which may block.
enum Thread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs a closure on a thread of its own; on this one, where the system gives none.
    static func start(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body))
        #if canImport(Glibc)
        var thread: pthread_t = 0
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        if code == 0 { pthread_detach(thread) }
        #else
        var thread: pthread_t?
        let code = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        if let thread { pthread_detach(thread) }
        #endif
        if code != 0 { work.takeRetainedValue().body() }
    }
}
