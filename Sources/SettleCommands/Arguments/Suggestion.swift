internal import SettlePlatform

/// Suggests words that exist in place of one that does not: those that other tools call so, and similar ones.
enum Suggestion {
    /// How many words a suggestion has at most.
    private static let most = 4

    /// The suggested words, the best first; empty if none is near.
    static func words(for given: String, among words: [String]) -> [String] {
        let plain = plain(given)
        if let same = words.first(where: { self.plain($0) == plain }) { return [same] }
        let meant = (OtherNames.all[plain] ?? []).filter(words.contains)
        if !meant.isEmpty { return meant }
        if plain.count >= 3 {
            let longer = words.filter { self.plain($0).contains(plain) }
            if !longer.isEmpty { return Array(longer.prefix(most)) }
        }
        // Of a single letter any other letter would be near.
        if plain.count < 2 { return [] }
        return NearestWord.find(given, in: words).map { [$0] } ?? []
    }

    /// A question that names the suggested words: `did you mean get or put?`
    static func question(for given: String, among words: [String]) -> String? {
        question(self.words(for: given, among: words))
    }

    /// A question that names some words; `nil` without any.
    static func question(_ words: [String]) -> String? {
        guard let last = words.last else { return nil }
        let others = words.dropLast().joined(separator: ", ")
        return "did you mean \(others.isEmpty ? last : "\(others) or \(last)")?"
    }

    /// A word without its case and its joints, and with a leading number in letters: `3-way` and `threeWay` are the same.
    private static func plain(_ word: String) -> String {
        let letters = word.lowercased().filter { $0 != "-" && $0 != "_" }
        return letters.hasPrefix("3") ? "three" + letters.dropFirst() : letters
    }
}
