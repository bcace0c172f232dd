internal import SettlePlatform

/// Which thread it is.
package struct ThreadID: Hashable, Sendable {
    private let number: UInt

    /// The thread that asks.
    package static var current: ThreadID {
        #if canImport(Darwin)
        ThreadID(number: UInt(bitPattern: pthread_self()))
        #else
        ThreadID(number: UInt(pthread_self()))
        #endif
    }
}
