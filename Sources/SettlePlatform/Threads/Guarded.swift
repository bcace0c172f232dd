/// A value that one thread at a time may access, protected by a system mutex.
///
/// The compiler checks that no other code shares the value: values that enter and leave are `sending`, as with the
/// standard library's `Mutex`. That type would do the same, but on Linux the thread sanitizer does not see how it
/// passes on a contended lock, and reports false races. The sanitizer understands this type, so its reports are
/// true.
///
/// Public, so that other modules can specialize it, which the compiler does not do for `package` types.
///
/// Unchecked: the value that `value` points to is accessed only while `mutex`, the lock, is held.
public final class Guarded<Value>: @unchecked Sendable {
    @usableFromInline
    let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline
    let value: UnsafeMutablePointer<Value>

    /// Protects a value with a new mutex.
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

    /// Runs a closure with the value while no other thread can access it. The closure must not access the same
    /// value again.
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

/// A value that one thread at a time may use, because a lock or a pool passes it from one to the next.
///
/// The compiler can't see that an object that was taken from a ``Guarded`` value is given back before anybody else
/// gets it.
///
/// Unchecked: it does not contain a lock. The `Guarded` lock of the pool that keeps the value gives it to one
/// thread at a time.
package struct Lent<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
