/// A regular expression over the bytes of a string, for CouchDB's `$regex`, with bounded work.
///
/// The language is Perl's. Without further options `.` matches one byte, so `É` takes two. Linux has PCRE2 for it, other systems
/// Foundation, with a part of the language (docs/PLATFORMS.md). A search that would take too long does not match, as in
/// CouchDB; the result never depends on time.
final class BytePattern: Sendable {
    #if canImport(CPCRE2)
    private typealias Engine = PCREPattern
    #else
    private typealias Engine = FoundationPattern
    #endif

    private let engine: Engine
    /// The pattern as it was given.
    let text: String

    /// Compiles a pattern.
    init(_ pattern: String) throws(PatternRefusal) {
        text = pattern
        engine = try Engine(pattern)
    }

    /// Whether the pattern occurs in a text, with the steps that are left.
    func occurs(in text: String, _ work: SelectorWork) -> Bool { engine.occurs(in: text, work) }
}
