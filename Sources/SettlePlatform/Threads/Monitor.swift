/// A value that one thread at a time may access, and for whose changes threads can wait.
///
/// Time limits use the monotonic clock.
///
/// The compiler checks that no other code shares the value: values that enter and leave are `sending`.
///
/// Public for the same reason as ``Guarded``.
///
/// Unchecked: the value that `value` points to is accessed only while `mutex`, the lock, is held.
public final class Monitor<Value>: @unchecked Sendable {
    @usableFromInline
    let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline
    let condition: UnsafeMutablePointer<pthread_cond_t>
    @usableFromInline
    let value: UnsafeMutablePointer<Value>

    /// Protects a value.
    public init(_ initial: consuming sending Value) {
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        #if !canImport(Darwin)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #else
        pthread_cond_init(condition, nil)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs a closure with the value, then wakes all waiting threads.
    package func update<Result>(_ body: (inout sending Value) throws -> sending Result) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value.pointee)
    }

    /// Runs a closure with the value, then wakes one waiting thread.
    package func updateForOne<Result>(_ body: (inout sending Value) throws -> sending Result) rethrows -> sending Result
    {
        // Wake the thread after the lock is released; otherwise it would only wait for the lock.
        defer { pthread_cond_signal(condition) }
        return try withLock(body)
    }

    /// Runs a closure with the value, and wakes no thread.
    @inlinable @inline(__always)
    public func withLock<Result>(_ body: (inout sending Value) throws -> sending Result) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Waits until a closure returns a result; calls it again after each change.
    @inlinable @inline(__always)
    public func wait<Result>(for body: (inout sending Value) throws -> sending Result?) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value.pointee) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits until a closure returns a result, or until a number of seconds has passed. More than a year counts as
    /// a year.
    package func wait<Result>(
        seconds: Double, for body: (inout sending Value) throws -> sending Result?
    ) rethrows -> sending Result? {
        let end = ContinuousClock.now + .seconds(max(0, min(seconds, 31_536_000)))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value.pointee) { return result }
            let left = end - ContinuousClock.now
            guard left > .zero else { return nil }
            waitForChange(atMost: left)
        }
    }

    /// Waits for a wake-up, at most for some time.
    private func waitForChange(atMost time: Duration) {
        let (seconds, attoseconds) = time.components
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        #if !canImport(Darwin)
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        limit.tv_sec += now.tv_sec + (limit.tv_nsec + now.tv_nsec) / 1_000_000_000
        limit.tv_nsec = (limit.tv_nsec + now.tv_nsec) % 1_000_000_000
        pthread_cond_timedwait(condition, mutex, &limit)
        #else
        pthread_cond_timedwait_relative_np(condition, mutex, &limit)
        #endif
    }
}
