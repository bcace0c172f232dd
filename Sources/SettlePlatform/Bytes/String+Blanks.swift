extension String {
    /// The text without blanks and tabs at its ends.
    package func trimmingBlanks() -> String {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let head = utf8.drop(while: isBlank)
        guard let last = head.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(head[...last]) ?? self
    }
}
