import SettleCore

/// One of all the forests of a few revisions: the parent of each, and how far its roots were stemmed.
///
/// Revisions are numbered so that a parent has a lower number than its children; going through every choice of
/// parents gives every shape, with the signatures of one generation in every order.
struct SmallForest: CustomStringConvertible {
    /// The revisions by number; with a parent's number, or `nil` for a root.
    let revisions: [RevisionID]
    let parents: [Int?]

    /// Every forest of `count` revisions. Roots have generation 1, or any up to `stemmed` more.
    static func all(of count: Int, stemmed: Int = 0) -> [SmallForest] {
        var forests = [SmallForest(revisions: [], parents: [])]
        for number in 0..<count {
            forests = forests.flatMap { forest in
                let roots = (0...stemmed).map { forest.adding(nil, generation: UInt64($0) + 1) }
                return roots
                    + (0..<number).map { forest.adding($0, generation: forest.revisions[$0].generation + 1) }
            }
        }
        return forests
    }

    private func adding(_ parent: Int?, generation: UInt64) -> SmallForest {
        // Odd ones are digests, so that the two forms of a signature are compared too.
        let letter = UInt64(97 + revisions.count)
        let signature =
            revisions.count % 2 == 1
            ? RevisionSignature(high: letter << 56, low: letter)
            : RevisionSignature(String(UnicodeScalar(UInt8(letter))))
        guard let signature, let revision = RevisionID(generation: generation, signature: signature) else {
            fatalError("no revision of generation \(generation)")
        }
        return SmallForest(revisions: revisions + [revision], parents: parents + [parent])
    }

    var leaves: [Int] { revisions.indices.filter { !parents.contains($0) } }

    var description: String {
        zip(revisions, parents).map { "\($0)<\($1.map { revisions[$0].description } ?? "-")" }.joined(separator: " ")
    }

    func history(of number: Int) -> RevisionHistory {
        path(Array(sequence(first: number) { parents[$0] }.map { revisions[$0] }))
    }

    /// Every part of the forest that a replica may know: a revision only with all of its ancestors.
    var subhistories: [[Int]] {
        (0..<(1 << revisions.count)).map { mask in revisions.indices.filter { mask >> $0 & 1 == 1 } }
            .filter { part in part.allSatisfy { number in parents[number].map { part.contains($0) } ?? true } }
    }
}

/// Every choice of some elements.
func subsets<Element>(of elements: [Element]) -> [[Element]] {
    elements.reduce([[]]) { chosen, element in chosen + chosen.map { $0 + [element] } }
}

/// Every order of the elements.
func permutations<Element>(of elements: [Element]) -> [[Element]] {
    guard !elements.isEmpty else { return [[]] }
    return elements.indices.flatMap { index in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(of: rest).map { [first] + $0 }
    }
}
