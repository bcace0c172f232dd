/// How many documents are read at once: many small ones, few large ones, so that a page takes about as much memory
/// whatever is in it.
struct PageSize: Sendable {
    /// The number of documents of the next page.
    private(set) var count = 16
    private static let most = 256
    private static let bytes = 1 << 20

    /// Learns from a page how large documents are.
    mutating func learn(count read: Int, bytes: Int) {
        guard read > 0 else { return }
        let fitting = max(Self.bytes / max(bytes / read, 1), 1)
        // Growing is careful, for the next ones may be larger.
        count = min(fitting, count * 4, Self.most)
    }
}
