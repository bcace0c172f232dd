#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Which thread it is.
struct ThreadID: Hashable, Sendable {
    private let number: UInt

    /// The thread that asks.
    static var current: ThreadID {
        #if canImport(Darwin)
        ThreadID(number: UInt(bitPattern: pthread_self()))
        #else
        ThreadID(number: UInt(pthread_self()))
        #endif
    }
}
