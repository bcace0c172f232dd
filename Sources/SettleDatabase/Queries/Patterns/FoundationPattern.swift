internal import Foundation
internal import SettlePlatform

/// A regular expression over bytes on `NSRegularExpression`, for systems without PCRE2.
///
/// ``PatternTranslator`` writes the pattern in ICU's language and refuses what could match otherwise than with PCRE2. ICU
/// calls back after some thousand steps of a search; after ``budget`` calls, the text does not match. The count is one of
/// steps and not of time, so a search always has the same result.
final class FoundationPattern: Sendable {
    /// How many times ICU may call back in one search, besides once for each position where a match may start.
    static let budget = 1_000

    private let expression: NSRegularExpression

    /// Compiles a pattern.
    init(_ pattern: String) throws(PatternRefusal) {
        let translated = try PatternTranslator.translate(pattern)
        do { expression = try NSRegularExpression(pattern: translated) } catch { throw .malformed }
    }

    /// Whether the pattern occurs in a text.
    func occurs(in text: String) -> Bool {
        let (mapped, count) = ByteText.text(text)
        let search = Guarded((isFound: false, left: Self.budget + count))
        expression.enumerateMatches(
            in: mapped, options: .reportProgress, range: NSRange(location: 0, length: count)
        ) { match, _, stop in
            let isDone = search.withLock { search in
                search.isFound = match != nil
                search.left -= 1
                return search.isFound || search.left <= 0
            }
            if isDone { stop.pointee = true }
        }
        return search.withLock { $0.isFound }
    }
}
