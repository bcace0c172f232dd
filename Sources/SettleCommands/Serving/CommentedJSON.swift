/// JSON with comments: a line that begins with `//`, blanks before it apart, is none of the text.
///
/// There is nothing more to it, on purpose. A string in JSON never goes on over a line's end, so the beginning of a line
/// is never inside of one, and no `//` of a URL is ever taken for a comment.
enum CommentedJSON {
    /// The text without its comments; the lines keep their numbers.
    static func plain(_ bytes: [UInt8]) -> [UInt8] {
        let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return Array(
            lines.map { line in
                line.drop { blanks.contains($0) }.starts(with: "//".utf8) ? [] : line
            }.joined(separator: [UInt8(ascii: "\n")]))
    }
}
