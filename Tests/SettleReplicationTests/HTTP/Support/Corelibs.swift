/// What keeps a test from `URLSession` on Linux, which is a stand-in for Apple's; docs/PLATFORMS.md lists these tests.
enum Corelibs {
    /// Whether the client is `URLSession` on Linux.
    static var isUsed: Bool {
        #if SETTLE_APPLE
        true
        #else
        false
        #endif
    }
}
