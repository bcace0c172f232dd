/// Suggests a similar word.
package enum NearestWord {
    /// The word with the smallest edit distance; `nil` if none is near.
    package static func find(_ word: String, in words: [String]) -> String? {
        let ranked = words.map { (word: $0, distance: distance(word, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        let isPrefix = word.count >= 2 && best.word.hasPrefix(word)
        if isPrefix || best.distance <= max(1, word.count / 3) { return best.word }
        return words.first { word.count >= 2 && $0.hasPrefix(word) }
    }

    /// The edit distance: letters inserted, deleted, replaced, or swapped with their neighbour.
    package static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first), Array(second))
        var older = [Int](repeating: 0, count: b.count + 1)
        var old = Array(0...b.count)
        for i in a.indices {
            var new = [i + 1]
            for j in b.indices {
                var least = min(new[j] + 1, old[j + 1] + 1, old[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, older[j - 1] + 1) }
                new.append(least)
            }
            (older, old) = (old, new)
        }
        return old[b.count]
    }
}
