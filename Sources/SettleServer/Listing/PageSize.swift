/// How many documents are read at once: many small ones or few large ones, so that pages take about the same memory.
struct PageSize: Sendable {
    /// The number of documents of the next page.
    private(set) var count = 16
    private static let most = 256
    private static let bytes = 1 << 20

    /// Adapts to the size of a page's documents.
    mutating func learn(count read: Int, bytes: Int) {
        guard read > 0 else { return }
        let fitting = max(Self.bytes / max(bytes / read, 1), 1)
        // It grows slowly, because the next documents may be larger.
        count = min(fitting, count * 4, Self.most)
    }
}
