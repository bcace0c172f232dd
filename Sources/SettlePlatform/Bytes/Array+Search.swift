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
    /// The first index from `start` on at which a pattern occurs; `nil` if it does not.
    ///
    /// - Complexity: O(*n*) for patterns whose first byte is rare, such as boundaries and quoted words.
    package func firstIndex(of pattern: [UInt8], from start: Int = 0) -> Int? {
        guard count >= pattern.count, let first = pattern.first else { return nil }
        return withUnsafeBufferPointer { bytes in
            let last = bytes.count - pattern.count
            var index = start
            while index <= last {
                if bytes[index] == first, bytes[index..<index + pattern.count].elementsEqual(pattern) { return index }
                index += 1
            }
            return nil
        }
    }
}
