/// A system thread, which may block. It is joined or detached exactly once.
///
/// Unchecked: it needs no lock, because the handle is immutable.
package struct SystemThread: @unchecked Sendable {
    private let handle: pthread_t

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs a closure on a new thread.
    ///
    /// - Throws: ``SystemError`` if the system can't create a thread; the closure is then not called.
    package init(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let work = Unmanaged.passRetained(Work(body))
        #if canImport(Darwin)
        var thread: pthread_t?
        let code = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        #else
        var made = pthread_t()
        let code = pthread_create(
            &made, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        let thread: pthread_t? = made
        #endif
        guard code == 0, let handle = thread else {
            work.release()
            throw SystemError("pthread_create", code)
        }
        self.handle = handle
    }

    /// Runs a closure on a new thread that is never joined.
    ///
    /// - Throws: ``SystemError`` if the system can't create a thread; the closure is then not called.
    package static func detach(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        pthread_detach(try SystemThread(body).handle)
    }

    /// Waits for the end of the thread.
    package func join() { pthread_join(handle, nil) }
}

// MARK: - SystemError

/// A system call that has failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the call, like `pthread_create`.
    package let call: String
    /// The error number, like `EAGAIN`.
    package let code: Int32

    /// Creates the error; by default with the error number of the last call.
    package init(_ call: String, _ code: Int32 = errno) { (self.call, self.code) = (call, code) }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
