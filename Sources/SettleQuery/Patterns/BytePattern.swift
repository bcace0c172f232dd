internal import Foundation
internal import SettlePlatform

/// A regular expression over the bytes of a string, for CouchDB's `$regex`, with bounded work.
///
/// The language is Perl's. Without further options `.` matches one byte, so `É` needs two. Linux uses PCRE2; other
/// systems use Foundation, which supports a part of the language (docs/PLATFORMS.md). A search that would take too
/// long does not match, as in CouchDB; the result never depends on time.
final class BytePattern: Sendable {
    #if canImport(CPCRE2)
    private typealias Engine = PCREPattern
    #else
    private typealias Engine = FoundationPattern
    #endif

    private let engine: Engine
    /// The original pattern.
    let text: String

    /// Compiles a pattern.
    init(_ pattern: String) throws(PatternRefusal) {
        text = pattern
        engine = try Engine(pattern)
    }

    /// Whether the pattern occurs in a text, within the remaining steps.
    func occurs(in text: String, _ work: SelectorWork) -> Bool { engine.occurs(in: text, work) }
}

// MARK: - PatternRefusal

/// The reason why a pattern is refused.
enum PatternRefusal: Error, Hashable {
    /// It is not a pattern of Perl's language, or it is too large.
    case malformed
    /// It has a construct that this engine lacks, or that may match differently than in PCRE2.
    case unsupported(String)

    /// The maximum length of a pattern, in bytes.
    static let maximumLength = 65_535
}

// MARK: - FoundationPattern

/// A regular expression over bytes on `NSRegularExpression`, for systems without PCRE2.
///
/// ``PatternTranslator`` writes the pattern in ICU's language, and refuses constructs that could match differently
/// than in PCRE2. ICU calls back after each 10,000 steps of a search; when the budget is spent, the text does not
/// match. Steps are counted and not time, so a search always has the same result.
///
///     budget:   10 + 2 × bytes² ÷ 10,000, 1,000 at most, + 2 × cost × (1 + bytes ÷ 10,000), in calls
///     cost:     1 a call; 1 + bytes ÷ 1,024 where one step may read all of the text
///
/// The square is enough for a pattern that reads the rest of the text from each start position. A search that
/// backtracks endlessly is stopped after about 100,000 steps in a short text, as with PCRE2.
final class FoundationPattern: Sendable {
    private let expression: NSRegularExpression
    private let hidesWork: Bool

    /// Compiles a pattern.
    init(_ pattern: String) throws(PatternRefusal) {
        let translated = try PatternTranslator.translate(pattern)
        do { expression = try NSRegularExpression(pattern: translated.text) } catch { throw .malformed }
        hidesWork = translated.hidesWork
    }

    /// Whether the pattern occurs in a text. A callback of ICU counts as 10,000 steps.
    func occurs(in text: String, _ work: SelectorWork) -> Bool {
        let (mapped, count) = ByteText.text(text)
        let cost = hidesWork ? 1 + count / 1024 : 1
        let (square, isLong) = count.multipliedReportingOverflow(by: count)
        let calls = isLong ? 1_000 : min(10 + square / 5_000, 1_000)
        let search = Guarded((isFound: false, left: calls + 2 * cost * (1 + count / 10_000)))
        expression.enumerateMatches(
            in: mapped, options: .reportProgress, range: NSRange(location: 0, length: count)
        ) { match, _, stop in
            let isDone = search.withLock { search in
                search.isFound = match != nil
                search.left -= cost
                let hasSteps = work.spend(10_000)
                return search.isFound || search.left <= 0 || !hasSteps
            }
            if isDone { stop.pointee = true }
        }
        return search.withLock { $0.isFound }
    }
}
