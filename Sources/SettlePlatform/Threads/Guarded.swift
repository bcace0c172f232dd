/// A value that one thread at a time may access, guarded by a mutex of the system.
///
/// The compiler checks that nothing outside shares the value: what goes in and what comes out is `sending`, as with the
/// standard library's `Mutex`. That one would do the same; but on Linux the thread sanitizer does not see it hand over a
/// lock that is contended, and reports false races. This one it sees, so that what it reports is true.
///
/// Public, so that other modules specialize it: the compiler does not do that for what is `package`.
///
/// Unchecked: the value that `value` points to is accessed only while `mutex`, the lock, is held.
public final class Guarded<Value>: @unchecked Sendable {
    @usableFromInline
    let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline
    let value: UnsafeMutablePointer<Value>

    public init(_ initial: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs a closure with the value while no other thread can; it must not ask for the same value again.
    @inlinable @inline(__always)
    public func withLock<Result>(
        _ body: (inout sending Value) throws -> sending Result
    ) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

// MARK: - Lent

/// A value that one thread at a time may use, because a lock or a pool gives it to one after the other.
///
/// The compiler can't see that an object which was taken from a ``Guarded`` value comes back before anybody else gets it.
///
/// Unchecked, no lock of its own: the `Guarded` lock of the pool that keeps the value hands it to one thread at a time.
package struct Lent<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
