extension Array {
    /// Finds the first element that meets a condition by binary search; returns the number of elements if none does.
    ///
    /// If an element meets the condition, all later elements must meet it too.
    ///
    /// - Complexity: O(log *n*).
    package func firstIndexInOrder(where condition: (Element) throws -> Bool) rethrows -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if try condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

// MARK: - Pattern

extension Array where Element == UInt8 {
    /// The first index from `start` on at which a pattern occurs; `nil` if it does not, or is empty.
    ///
    /// It looks for the pattern's first letter, as the C library does fast, and compares the rest there.
    ///
    /// - Complexity: O(*n*) for patterns with a letter that is not frequent, such as boundaries and quoted words.
    package func firstIndex(of pattern: [UInt8], from start: Int = 0) -> Int? {
        guard !pattern.isEmpty, start <= count - pattern.count else { return nil }
        let anchor = pattern.firstIndex { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 } ?? 0
        return withUnsafeBytes { bytes in
            var index = start
            while index <= bytes.count - pattern.count {
                let rest = bytes.count - pattern.count - index + 1
                guard let place = bytes.baseAddress,
                    let found = memchr(place + index + anchor, Int32(pattern[anchor]), rest)
                else { return nil }
                index = UnsafeRawPointer(found) - place - anchor
                if bytes[index..<index + pattern.count].elementsEqual(pattern) { return index }
                index += 1
            }
            return nil
        }
    }
}
