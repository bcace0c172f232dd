/// Merges numbers as counters.
enum MergeSum {
    /// The base plus what each edit added to it.
    ///
    ///     base + Σ (version - base)  =  Σ version - (edits - 1) · base
    ///
    /// - Complexity: O(*n*) in digits.
    static func merge(_ member: MergeMember, edits: [Int]) throws(MergeMisfit) -> JSONValue {
        if member.isRemoved { throw .removed }
        guard let base = (member.base ?? 0).number else { throw .notNumbers }
        var numbers = [base]
        var sum = DecimalSum()
        sum.add(decimal(base), times: 1 - edits.count)
        for edit in edits {
            guard let number = member.versions[edit]?.number else { throw .notNumbers }
            numbers.append(number)
            sum.add(decimal(number), times: 1)
        }
        guard let result = numbers.allSatisfy(\.isInteger) ? sum.integer : sum.float else { throw .outOfRange }
        return .number(result)
    }

    /// The number's value. A float is taken by its bits, not its spelling; otherwise replicas with different
    /// spellings would compute different sums.
    private static func decimal(_ number: JSONNumber) -> JSONDecimal {
        if number.isInteger { return JSONDecimal(number) }
        return JSONDecimal(JSONNumber(number.double) ?? number)
    }
}
