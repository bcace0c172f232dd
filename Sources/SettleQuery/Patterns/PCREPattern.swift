#if canImport(CPCRE2)
internal import CPCRE2

/// A regular expression over bytes, by PCRE2.
///
///     pattern:  c₁ item c₂ item c₃ …        before each item PCRE2 calls back (`PCRE2_AUTO_CALLOUT`)
///     budget:   100,000 + 32 for each byte of the text, 10,000,000 at most
///               − 1 a call − the bytes between two calls ÷ 16
///
/// A search that only reads its text takes a few steps for each byte. A search that backtracks endlessly is stopped
/// after half a millisecond in a short text. The budget covers one search with all its start positions, because
/// PCRE2's own limits restart at each position. A search that exceeds it does not match, as in CouchDB; the result
/// never depends on time.
final class PCREPattern: Sendable {
    /// The budget of a search in the longest text.
    private static let budget = 10_000_000
    /// The maximum memory of one search, in KiB.
    private static let memory: UInt32 = 65_536

    // Unchecked: it needs no lock, because it is compiled once and immutable afterwards. PCRE2 allows any number of
    // threads to search with it concurrently.
    nonisolated(unsafe) private let code: OpaquePointer

    /// Compiles a pattern.
    init(_ pattern: String) throws(PatternRefusal) {
        var pattern = pattern
        // Before PCRE2 10.42 searches a text, it checks that the text has the characters of the pattern. That check
        // counts a character twice if a lookahead and the pattern after it share it, so `(?=B)a?B` is not found in
        // `B`. This option switches the check off.
        let options = PCRE2_AUTO_CALLOUT | (pattern.contains("(?=") ? PCRE2_NO_START_OPTIMIZE : 0)
        let code: OpaquePointer? = pattern.withUTF8 { bytes in
            guard bytes.count <= PatternRefusal.maximumLength, let context = pcre2_compile_context_create_8(nil) else {
                return nil
            }
            defer { pcre2_compile_context_free_8(context) }
            pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_LF))
            var error: Int32 = 0
            var offset = 0
            // An empty Swift string may have no address, which PCRE2 rejects even with length zero.
            var none: UInt8 = 0
            return withUnsafePointer(to: &none) { none in
                pcre2_compile_8(
                    bytes.baseAddress ?? none, bytes.count, UInt32(options), &error, &offset, context)
            }
        }
        guard let code else { throw .malformed }
        self.code = code
    }

    deinit { pcre2_code_free_8(code) }

    /// The budget of a search in a text.
    private static func budget(of text: String) -> Int { min(100_000 + text.utf8.count * 32, budget) }

    /// Whether the pattern occurs in a text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - work: The remaining steps, from which those of this search are subtracted.
    /// - Returns: Whether it occurs; `false` also if the budget is spent.
    /// - Complexity: Bounded by the budget.
    func occurs(in text: String, _ work: SelectorWork) -> Bool {
        guard let match = pcre2_match_data_create_8(1, nil), let context = pcre2_match_context_create_8(nil) else {
            return false
        }
        defer {
            pcre2_match_data_free_8(match)
            pcre2_match_context_free_8(context)
        }
        let budget = max(min(Self.budget(of: text), work.available), 0)
        pcre2_set_match_limit_8(context, UInt32(budget))
        pcre2_set_depth_limit_8(context, UInt32(budget))
        pcre2_set_heap_limit_8(context, Self.memory)
        var search = Search(left: budget)
        var text = text
        let result = withUnsafeMutablePointer(to: &search) { search in
            pcre2_set_callout_8(context, Search.charge, search)
            return text.withUTF8 { bytes in
                var none: UInt8 = 0
                return withUnsafePointer(to: &none) { none in
                    pcre2_match_8(code, bytes.baseAddress ?? none, bytes.count, 0, 0, match, context)
                }
            }
        }
        _ = work.spend(budget - max(search.left, 0))
        return result >= 0
    }

    /// The state of one search.
    private struct Search {
        private(set) var left: Int
        private var position = 0

        init(left: Int) { self.left = left }

        /// Subtracts the distance since the last callout from the budget. A nonzero result ends the search.
        static let charge:
            @convention(c) (UnsafeMutablePointer<pcre2_callout_block_8>?, UnsafeMutableRawPointer?) -> Int32 = {
                block, data in
                guard let block, let search = data?.assumingMemoryBound(to: Search.self) else {
                    return PCRE2_ERROR_CALLOUT
                }
                let position = block.pointee.current_position
                search.pointee.left -= 1 + abs(position - search.pointee.position) / 16
                search.pointee.position = position
                return search.pointee.left > 0 ? 0 : PCRE2_ERROR_MATCHLIMIT
            }
    }
}
#endif
