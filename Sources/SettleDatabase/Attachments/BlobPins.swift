internal import SettlePlatform

/// The contents that this process keeps from being collected, by their digests.
final class BlobPins: Sendable {
    /// A pin, which exists until it is released.
    final class Pin: Sendable {
        private let digest: BlobDigest
        fileprivate let pins: BlobPins

        fileprivate init(_ digest: BlobDigest, in pins: BlobPins) { (self.digest, self.pins) = (digest, pins) }

        deinit { pins.release(digest) }

        /// Whether it is one of these pins.
        func isOne(of pins: BlobPins) -> Bool { self.pins === pins }
    }

    private let counts = Guarded<[BlobDigest: Int]>([:])

    /// Keeps a content from being collected until the returned object is released.
    func pin(_ digest: BlobDigest) -> Pin {
        counts.withLock { $0[digest, default: 0] += 1 }
        return Pin(digest, in: self)
    }

    private func release(_ digest: BlobDigest) {
        counts.withLock { counts in counts[digest] = counts[digest].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }

    /// Whether a content must not be collected now.
    func contains(_ digest: BlobDigest) -> Bool { counts.withLock { $0[digest] != nil } }

    /// Runs a closure unless a content is pinned; nobody can pin one meanwhile.
    func unlessPinned(_ digest: BlobDigest, _ body: () throws -> Void) rethrows {
        try counts.withLock { if $0[digest] == nil { try body() } }
    }
}
