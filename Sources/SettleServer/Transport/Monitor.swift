#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A value that one thread at a time may touch, and whose changes threads can wait for.
///
/// Unchecked: `value` is touched only while `mutex`, the lock, is held.
final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs a closure with the value, then wakes all who wait.
    func update<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Runs a closure with the value, then wakes one of those who wait.
    func updateForOne<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        // Woken behind the lock, or it would only wait for that.
        defer { pthread_cond_signal(condition) }
        return try withLock(body)
    }

    /// Runs a closure with the value and wakes nobody.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Waits until a closure gives a result, asking it again after each change.
    func wait<Result>(for body: (inout Value) throws -> Result?) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// Waits until a closure gives a result, or a number of seconds is over.
    func wait<Result>(seconds: Double, for body: (inout Value) throws -> Result?) rethrows -> Result? {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let end = Double(now.tv_nsec) / 1e9 + seconds
        var deadline = timespec(tv_sec: now.tv_sec + Int(end), tv_nsec: Int((end - end.rounded(.down)) * 1e9))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            if pthread_cond_timedwait(condition, mutex, &deadline) != 0 { return try body(&value) }
        }
    }
}
