import Measuring
import Settle

/// The revision tree alone: `TreeBenchmark [runs]`.
@main
struct TreeBenchmark {
    static func main() throws {
        let runs = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
        let measuring = Measuring(runs: runs)
        var tree = RevisionTree()
        var parent: RevisionID?
        for generation in 1...1000 {
            let revision = RevisionID("\(generation)-\(String(repeating: "ab", count: 16))")
            guard let revision else { continue }
            try tree.insert(revision, parent: parent, isDeleted: false)
            parent = revision
        }
        guard let next = RevisionID("1001-" + String(repeating: "cd", count: 16)), let parent else { return }
        func microseconds(_ name: String, _ body: () throws -> Void) rethrows {
            let times = try (0..<runs).map { _ in try measuring.seconds { for _ in 0..<1000 { try body() } } * 1000 }
            print(Measuring.pad(name, 46), Measuring.fixed(Measuring.median(times), 2), "µs")
        }
        print("a tree of 1,000 generations, medians of \(runs) runs of 1,000")
        try microseconds("insert an edit on the leaf, in a copy") {
            var copy = tree
            try copy.insert(next, parent: parent, isDeleted: false)
        }
        var kept = tree
        let history = kept.history(of: parent)
        try microseconds("insert an edit and stem, in place") {
            var generation = (kept.winner?.revision.generation ?? 0) + 1
            guard let leaf = kept.winner?.revision,
                let edit = RevisionID(generation: generation, signature: next.signature)
            else { return }
            try kept.insert(edit, parent: leaf, isDeleted: false)
            generation += 1
            kept.stem(to: 1000)
        }
        if let history {
            microseconds("insert a known path of 1,000") { tree.insert(history, isDeleted: false) }
        }
        microseconds("pack") { _ = tree.packed() }
        let packed = tree.packed()
        try microseconds("unpack") { _ = try RevisionTree(packed: packed) }
        microseconds("winner") { _ = tree.winner }
        microseconds("merge with itself") { tree.merge(tree) }
        print("packed: \(packed.count) bytes")
    }
}
