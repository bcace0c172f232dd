import SettleCore
internal import SettlePlatform

/// A compiled `pattern`.
///
/// `Regex` cannot be shared between threads, so one match at a time holds the lock.
final class SchemaPattern: Sendable {
    private let regex: Guarded<Regex<AnyRegexOutput>>

    /// Compiles a pattern, or throws the error in it.
    init(_ pattern: String) throws {
        regex = Guarded(
            try Regex(pattern).asciiOnlyDigits().asciiOnlyWordCharacters().matchingSemantics(.unicodeScalar))
    }

    /// Whether the pattern occurs anywhere in a string.
    func isFound(in text: String) -> Bool {
        regex.withLock { regex in ((try? regex.firstMatch(in: text)) ?? nil) != nil }
    }
}
