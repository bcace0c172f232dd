/// A value that one thread at a time may touch, behind a mutex of the system.
///
/// The standard library's `Mutex` would do the same; but on Linux the thread sanitizer does not see it hand over a lock that
/// is contended, and reports false races. This one it sees, so that what it reports is true.
///
/// Unchecked: `value` is touched only while `mutex`, the lock, is held.
package final class Guarded<Value>: @unchecked Sendable {
    @usableFromInline
    let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline
    var value: Value

    package init(_ value: Value) {
        self.value = value
        mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs a closure with the value while no other thread can; it must not ask for the same value again.
    @inlinable @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
