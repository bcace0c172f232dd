import SettleCore
import Testing

/// The steps in which the leaves of small trees are merged, and their bases.
@Suite struct RevisionTreeMergeStepTests {
    /// The steps as `2-b: 3-d 3-c`, where a leaf's name stands for its merge; `-` for no base, and a `?` after an
    /// uncertain step.
    private func steps(
        _ tree: RevisionTree, _ leaves: [RevisionID], closed: [(revision: RevisionID, survivor: RevisionID)] = [],
        forgotten: [(generation: UInt64, survivor: RevisionID)] = []
    ) -> [String] {
        tree.mergeSteps(of: leaves, closed: closed, forgotten: forgotten).map { step in
            let names = step.versions.map { leaves[$0].description }.joined(separator: " ")
            return "\(step.base?.description ?? "-"): \(names)\(step.isCertain ? "" : " ?")"
        }
    }

    @Test func `zero or one leaf needs no step`() {
        #expect(steps(tree("1-a 2-b"), ["2-b"]) == [])
        #expect(steps(tree("1-a 2-b"), []) == [])
        #expect(steps(RevisionTree(), []) == [])
    }

    /// ```
    /// 1-a ─┬─ 2-b
    ///      └─ 2-c
    /// ```
    @Test func `two leaves are merged at the revision where they parted`() {
        #expect(steps(tree("1-a 2-b", "1-a 2-c"), ["2-c", "2-b"]) == ["1-a: 2-c 2-b"])
    }

    /// ```
    /// 1-a ── 2-b ─┬─ 3-c ── 4-d ── 5-e
    ///             └─ 3-x
    /// ```
    @Test func `branches of different lengths are merged where they parted`() {
        #expect(steps(tree("1-a 2-b 3-c 4-d 5-e", "1-a 2-b 3-x"), ["5-e", "3-x"]) == ["2-b: 5-e 3-x"])
    }

    /// ```
    /// 1-a ─┬─ 2-b
    ///      ├─ 2-c
    ///      └─ 2-d
    /// ```
    @Test func `leaves that parted at one revision are merged in one step`() {
        let tree = tree("1-a 2-b", "1-a 2-c", "1-a 2-d")
        #expect(steps(tree, ["2-d", "2-c", "2-b"]) == ["1-a: 2-d 2-c 2-b"])
    }

    /// ```
    /// 1-a ─┬─ 2-b ─┬─ 3-c
    ///      │       └─ 3-d
    ///      └─ 2-x
    /// ```
    @Test func `leaves that parted last are merged first`() {
        let tree = tree("1-a 2-b 3-c", "1-a 2-b 3-d", "1-a 2-x")
        #expect(steps(tree, ["3-d", "3-c", "2-x"]) == ["2-b: 3-d 3-c", "1-a: 3-d 2-x"])
        // The first leaf of the list stands for the result, whichever branch it is on.
        #expect(steps(tree, ["2-x", "3-c", "3-d"]) == ["2-b: 3-c 3-d", "1-a: 2-x 3-c"])
    }

    /// ```
    /// 1-a ─┬─ 2-b ─┬─ 3-c
    ///      │       └─ 3-d
    ///      └─ 2-e ─┬─ 3-f
    ///              └─ 3-g
    /// ```
    @Test func `of two forks at one generation the higher revision comes first`() {
        let tree = tree("1-a 2-b 3-c", "1-a 2-b 3-d", "1-a 2-e 3-f", "1-a 2-e 3-f0")
        #expect(
            steps(tree, ["3-d", "3-c", "3-f0", "3-f"]) == ["2-e: 3-f0 3-f", "2-b: 3-d 3-c", "1-a: 3-d 3-f0"])
    }

    /// ```
    /// 1-a ── 2-b
    /// 1-c ── 2-d
    /// ```
    @Test func `leaves without a common ancestor have no base`() {
        #expect(steps(tree("1-a 2-b", "1-c 2-d"), ["2-d", "2-b"]) == ["-: 2-d 2-b"])
        let tree = tree("1-a 2-b", "1-c 2-d 3-e", "1-c 2-d 3-f")
        #expect(steps(tree, ["3-f", "3-e", "2-b"]) == ["2-d: 3-f 3-e", "-: 3-f 2-b"])
        #expect(steps(.init(), ["1-a", "1-b"]) == ["-: 1-a 1-b"])
    }

    /// ```
    /// 3-c ─┬─ 4-d          the revisions before 3-c are forgotten
    ///      └─ 4-e
    /// ```
    @Test func `ancestors stemmed away below the base do not matter, and above it they do`() {
        #expect(steps(tree("3-c 4-d", "3-c 4-e"), ["4-e", "4-d"]) == ["3-c: 4-e 4-d"])
        let mixed = tree("1-a 2-b", "1-a 2-c", "5-e 6-f")
        #expect(steps(mixed, ["6-f", "2-c", "2-b"]) == ["1-a: 2-c 2-b", "-: 6-f 2-c ?"])
    }

    /// ```
    /// 1-a ─┬─ 2-a ── 3-d
    ///      └─ 2-b ─┬─ 3-e      closed for 3-d
    ///              └─ 3-c
    /// ```
    @Test func `a branch that went on from a closed revision is merged on that revision`() {
        let tree = tree("1-a 2-a 3-d", "1-a 2-b 3-e!", "1-a 2-b 3-c")
        #expect(steps(tree, ["3-d", "3-c"]) == ["1-a: 3-d 3-c"])
        #expect(steps(tree, ["3-d", "3-c"], closed: [("2-b", "3-d")]) == ["2-b: 3-d 3-c"])
    }

    /// ```
    /// 1-a ── 2-a ── 3-d           3-d was merged of 2-a and 2-b; 2-b may stand on 1-c, which is a leaf here
    /// 2-b ── 3-e                  closed for 3-d; the path was cut
    /// 1-c
    /// ```
    @Test func `a closed branch with a stemmed path leaves the base unknown`() {
        let tree = tree("1-a 2-a 3-d", "2-b 3-e!", "1-c")
        #expect(steps(tree, ["3-d", "1-c"], closed: [("2-b", "3-d")]) == ["-: 3-d 1-c ?"])
        // A replica that closed it for another leaf has seen it, and these leaves have not.
        #expect(steps(tree, ["3-d", "1-c"]) == ["-: 3-d 1-c"])
    }

    /// ```
    /// 1-a ─┬─ 2-a ── 3-d
    ///      └─ 2-b ── 3-c
    /// 3-e                         closed for 3-d; it stands on a revision that was forgotten, on 2-b perhaps
    /// ```
    @Test func `a forgotten closed revision leaves a base below it unknown`() {
        let tree = tree("1-a 2-a 3-d", "1-a 2-b 3-c", "3-e!")
        #expect(steps(tree, ["3-d", "3-c"], forgotten: [(2, "3-d")]) == ["1-a: 3-d 3-c ?"])
        #expect(steps(tree, ["3-d", "3-c"], forgotten: [(1, "3-d")]) == ["1-a: 3-d 3-c"])
        #expect(steps(tree, ["3-d", "3-c"], forgotten: [(2, "9-f")]) == ["1-a: 3-d 3-c"])
    }

    /// ```
    /// 1-a ── 2-a ─┬─ 3-d ── 4-d ─┬─ … ── 7-d     merged of 6-d and 5-b
    ///             └─ 3-c         └─ 5-c
    /// 5-b ── 6-b                                 closed for 7-d; its path up to 4-… was forgotten
    /// ```
    @Test func `a base below a forgotten revision is unknown, one above it is known`() {
        let lower = tree("1-a 2-a 3-d 4-d 5-d 6-d 7-d", "1-a 2-a 3-c", "5-b 6-b!")
        #expect(steps(lower, ["7-d", "3-c"], closed: [("5-b", "7-d")]) == ["2-a: 7-d 3-c ?"])
        let higher = tree("1-a 2-a 3-d 4-d 5-d 6-d 7-d", "1-a 2-a 3-d 4-d 5-c", "5-b 6-b!")
        #expect(steps(higher, ["7-d", "5-c"], closed: [("5-b", "7-d")]) == ["4-d: 7-d 5-c"])
    }

    /// ```
    /// 1-a ─┬─ 2-a ── 3-d ── 4-f       edited after 3-e had been closed for 3-d
    ///      └─ 2-b ── 3-c
    /// ```
    @Test func `a descendant of a survivor has seen everything the survivor has seen`() {
        let tree = tree("1-a 2-a 3-d 4-f", "1-a 2-b 3-c")
        #expect(steps(tree, ["4-f", "3-c"], closed: [("2-b", "3-d")]) == ["2-b: 4-f 3-c"])
        // The reverse does not hold: an earlier revision has not seen what the survivor has.
        #expect(steps(tree, ["4-f", "3-c"], closed: [("3-c", "4-f")]) == ["3-c: 4-f 3-c"])
    }

    /// ```
    /// 1-a ─┬─ 2-a ── 3-d            2-b was closed for 3-d, and 3-d for 4-f
    ///      ├─ 2-b ── 3-c
    ///      └─ 2-e ── 3-e ── 4-f
    /// ```
    @Test func `closings are followed transitively, in any order of the list`() {
        let tree = tree("1-a 2-a 3-d", "1-a 2-b 3-c", "1-a 2-e 3-e 4-f")
        let closed: [(revision: RevisionID, survivor: RevisionID)] = [("2-b", "3-d"), ("3-d", "4-f")]
        #expect(steps(tree, ["4-f", "3-c"], closed: closed) == ["2-b: 4-f 3-c"])
        #expect(steps(tree, ["4-f", "3-c"], closed: closed.reversed()) == ["2-b: 4-f 3-c"])
        #expect(steps(tree, ["4-f", "3-c"], closed: [closed[0]]) == ["1-a: 4-f 3-c"])
        #expect(steps(tree, ["4-f", "3-c"], closed: [closed[1]]) == ["1-a: 4-f 3-c"])
    }

    /// ```
    /// 1-a ─┬─ 2-b ── 3-x ─┬─ 4-y      3-x was closed for 2-c, which stands before it
    ///      │              └─ 4-z
    ///      └─ 2-c
    /// ```
    @Test func `closings for an earlier or unknown revision are ignored`() {
        let tree = tree("1-a 2-b 3-b 4-d", "1-a 2-c")
        let whole = ["1-a: 4-d 2-c"]
        #expect(steps(tree, ["4-d", "2-c"], closed: [("3-b", "2-c")]) == whole)
        #expect(steps(tree, ["4-d", "2-c"], closed: [("3-b", "3-b")]) == whole)
        #expect(steps(tree, ["4-d", "2-c"], closed: [("3-b", "9-f"), ("9-f", "4-d")]) == whole)
    }

    /// ```
    /// 1-a ─┬─ 2-b ── 3-b ─┬─ 4-e      3-c was closed for 4-e and for 4-f: both have seen 3-b and 3-c
    ///      │              └─ 4-f
    ///      └─ 2-c ── 3-c
    /// ```
    @Test func `of two newest common revisions the higher is the base`() {
        let tree = tree("1-a 2-b 3-b 4-e", "1-a 2-b 3-b 4-f", "1-a 2-c 3-c")
        #expect(steps(tree, ["4-f", "4-e"], closed: [("3-c", "4-e"), ("3-c", "4-f")]) == ["3-c: 4-f 4-e"])
        #expect(steps(tree, ["4-f", "4-e"], closed: [("3-c", "4-e")]) == ["3-b: 4-f 4-e"])
    }

    /// ```
    /// 1-a ── 2-a ── … ── 99-a ─┬─ 100-a ── … ── 150-a
    ///                          └─ 100-b ── … ── 170-b
    /// ```
    @Test func `long branches take several words of the ancestor sets`() {
        let long = tree(
            (1...150).map { "\($0)-a" }.joined(separator: " "),
            (1...170).map { $0 < 100 ? "\($0)-a" : "\($0)-b" }.joined(separator: " "))
        #expect(steps(long, ["170-b", "150-a"]) == ["99-a: 170-b 150-a"])
    }
}
