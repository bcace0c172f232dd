internal import CPCRE2

/// A regular expression over the bytes of a string, as CouchDB's `$regex` has it, that can not run away.
///
/// The language is Perl's, by PCRE2. Without its options `.` is one byte, so `É` is two of them.
///
///     pattern:  c₁ item c₂ item c₃ …        before each item PCRE2 calls back (`PCRE2_AUTO_CALLOUT`)
///     budget:   10,000,000 − 1 a call − the bytes between two calls ÷ 16
///
/// The budget counts the work of one search from its first start to its last, for PCRE2's own limits begin anew at every
/// start. What exceeds it does not match, as in CouchDB; and the answer never depends on the time of day.
final class BytePattern: Sendable {
    /// How much one search may do.
    static let budget = 10_000_000
    /// How long a pattern may be, in bytes.
    static let maximumLength = 65_535
    /// How much memory one search may take, in KiB.
    private static let memory: UInt32 = 65_536

    // Unchecked, no lock: compiled once and immutable since. PCRE2 lets any number of threads search by it at once.
    nonisolated(unsafe) private let code: OpaquePointer

    /// The pattern as it was given.
    let text: String

    /// Compiles a pattern; `nil` if it is invalid.
    init?(_ pattern: String) {
        text = pattern
        var pattern = pattern
        let code: OpaquePointer? = pattern.withUTF8 { bytes in
            guard bytes.count <= Self.maximumLength, let context = pcre2_compile_context_create_8(nil) else {
                return nil
            }
            defer { pcre2_compile_context_free_8(context) }
            pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_LF))
            var error: Int32 = 0
            var offset = 0
            // An empty Swift string may have no address, which PCRE2 refuses even for no bytes.
            var none: UInt8 = 0
            return withUnsafePointer(to: &none) { none in
                pcre2_compile_8(
                    bytes.baseAddress ?? none, bytes.count, UInt32(PCRE2_AUTO_CALLOUT), &error, &offset, context)
            }
        }
        guard let code else { return nil }
        self.code = code
    }

    deinit { pcre2_code_free_8(code) }

    /// Whether the pattern occurs in a text.
    ///
    /// - Complexity: Bounded by ``budget``.
    func occurs(in text: String) -> Bool {
        guard let match = pcre2_match_data_create_8(1, nil), let context = pcre2_match_context_create_8(nil) else {
            return false
        }
        defer {
            pcre2_match_data_free_8(match)
            pcre2_match_context_free_8(context)
        }
        pcre2_set_match_limit_8(context, UInt32(Self.budget))
        pcre2_set_depth_limit_8(context, UInt32(Self.budget))
        pcre2_set_heap_limit_8(context, Self.memory)
        var work = Work()
        var text = text
        let result = withUnsafeMutablePointer(to: &work) { work in
            pcre2_set_callout_8(context, Work.charge, work)
            return text.withUTF8 { bytes in
                var none: UInt8 = 0
                return withUnsafePointer(to: &none) { none in
                    pcre2_match_8(code, bytes.baseAddress ?? none, bytes.count, 0, 0, match, context)
                }
            }
        }
        return result >= 0
    }

    /// What one search has done so far.
    private struct Work {
        private var left = BytePattern.budget
        private var position = 0

        /// Takes the way since the last call off the budget; a number other than zero ends the search.
        static let charge:
            @convention(c) (UnsafeMutablePointer<pcre2_callout_block_8>?, UnsafeMutableRawPointer?) -> Int32 = {
                block, data in
                guard let block, let work = data?.assumingMemoryBound(to: Work.self) else { return PCRE2_ERROR_CALLOUT }
                let position = block.pointee.current_position
                work.pointee.left -= 1 + abs(position - work.pointee.position) / 16
                work.pointee.position = position
                return work.pointee.left > 0 ? 0 : PCRE2_ERROR_MATCHLIMIT
            }
    }
}
