/// Why a pattern is refused.
enum PatternRefusal: Error, Hashable {
    /// It is no pattern of Perl's language, or larger than is allowed.
    case malformed
    /// It has a construct that this engine lacks, or that may match otherwise than with PCRE2.
    case unsupported(String)

    /// The maximum length of a pattern, in bytes.
    static let maximumLength = 65_535
}
