/// How many revisions to ask for at once: so many that an answer takes neither a moment nor long.
struct BatchSizer: Sendable {
    private(set) var revisions: Int
    private let most: Int
    private static let least = 10

    init(most: Int) {
        self.most = max(1, most)
        revisions = min(self.most, 200)
    }

    /// The peer did not take so many at once.
    mutating func halve() { revisions = max(1, revisions / 2) }

    /// Learns from an answer to a whole batch.
    mutating func learn(_ count: Int, took time: Duration) {
        if time > .seconds(4) {
            revisions = max(min(most, Self.least), revisions / 2)
        } else if time < .milliseconds(500), count >= revisions {
            revisions = revisions > most / 2 ? most : revisions * 2
        }
    }
}
