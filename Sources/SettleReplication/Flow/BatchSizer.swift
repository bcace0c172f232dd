/// How many revisions to request at once, so that a response takes neither too short nor too long.
struct BatchSizer: Sendable {
    private(set) var revisions: Int
    private let most: Int
    private static let least = 10

    init(most: Int) {
        self.most = max(1, most)
        revisions = min(self.most, 200)
    }

    /// Records that the peer did not accept a batch of this size.
    mutating func halve() { revisions = max(1, revisions / 2) }

    /// Learns from the duration of a complete batch.
    mutating func learn(_ count: Int, took time: Duration) {
        if time > .seconds(4) {
            revisions = max(min(most, Self.least), revisions / 2)
        } else if time < .milliseconds(500), count >= revisions {
            revisions = revisions > most / 2 ? most : revisions * 2
        }
    }
}
