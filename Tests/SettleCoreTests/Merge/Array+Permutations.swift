extension Array {
    /// All orders of the elements.
    var permutations: [[Element]] {
        if isEmpty { return [[]] }
        return indices.flatMap { index in
            var rest = self
            let first = rest.remove(at: index)
            return rest.permutations.map { [first] + $0 }
        }
    }
}
