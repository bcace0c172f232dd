extension Array {
    /// The first index whose element meets a condition that all later elements meet too; the number of elements if none does.
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
