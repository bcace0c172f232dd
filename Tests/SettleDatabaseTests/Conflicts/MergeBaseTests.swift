import PostgresTesting
import Settle
import SettleTesting
import Testing

/// The bases of merges, and what a merge must not restore or count twice.
@Suite struct MergeBaseTests {
    @Test func `a counter's change is not counted twice when a closed branch is edited`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            let base = try peer("d", path("1-a"), ["n": 5])
            let w = try peer("d", path("2-w", "a"), ["n": 8])
            let x = try peer("d", path("2-b", "a"), ["n": 6])
            try a.insertReplicated([base, w, x])
            try b.insertReplicated([base, x])
            let policy = ConflictPolicy.threeWayMerge(MergeRules(attributes: ["/n": .sum]))
            try a.settle("d", using: policy)
            #expect(try a.document("d")?["n"] == 9)
            try b.set("d", "n", 7)  // one more, on the branch that a closed
            try exchange([a, b])
            for database in [a, b] { try database.settle("d", using: policy) }
            #expect(try a.document("d")?.json == b.document("d")?.json)
            #expect(try a.document("d")?["n"] == 10)
        }
    }

    @Test func `a removal made after a merge persists when a closed branch is edited`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            let base = try peer("d", path("1-a"), ["tags": []])
            let w = try peer("d", path("2-w", "a"), ["tags": ["w"]])
            let x = try peer("d", path("2-b", "a"), ["tags": ["x"]])
            try a.insertReplicated([base, w, x])
            try b.insertReplicated([base, x])
            let policy = ConflictPolicy.threeWayMerge(MergeRules(attributes: ["/tags": .union]))
            try a.settle("d", using: policy)
            #expect(try a.document("d")?["tags"] == ["w", "x"])
            try a.set("d", "tags", ["w"])  // x is taken away
            try b.set("d", "note", "hello")
            try exchange([a, b])
            for database in [a, b] { try database.settle("d", using: policy) }
            #expect(try a.document("d")?["tags"] == ["w"])
        }
    }

    @Test func `each attachment is merged on its own, whichever documents have any`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            let names = ["blob_/photo", "note.txt"]
            let attachments = try names.map { try database.makeAttachment($0, content: Array($0.utf8)) }
            let sets = (0..<4).map { set in Set(names.indices.filter { set >> $0 & 1 == 1 }) }
            for (b, w, o) in sets.flatMap({ b in sets.flatMap { w in sets.map { (b, w, $0) } } }) {
                let id = try DocumentID(validating: "\(b.sorted()) \(w.sorted()) \(o.sorted())")
                func edited(
                    _ history: RevisionHistory, _ value: JSONValue, _ set: Set<Int>
                ) -> ReplicatedRevision {
                    peer(id, history, ["v": value], attachments: set.sorted().map { attachments[$0] })
                }
                try database.insertReplicated([
                    edited(path("1-a"), 0, b), edited(path("2-c", "a"), 1, w), edited(path("2-b", "a"), 2, o),
                ])
                #expect(try database.settle(id, using: .threeWayMerge()).outcome == .settled)
                let merged = names.indices.filter {
                    w.contains($0) == o.contains($0) ? w.contains($0) : !b.contains($0)
                }
                let result = try #require(try database.document(id))
                #expect(Set(result.attachments.map(\.name)) == Set(merged.map { names[$0] }), "\(id)")
            }
        }
    }

    @Test func `no decision is about attachments where no document has any`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.insertReplicated([peer("d", path("1-a"), ["v": 1]), peer("d", path("1-b"), ["v": 2, "w": 3])])
            let preview = try #require(try database.preview("d", using: .threeWayMerge()))
            #expect(preview.decision?.attributes.map(\.path).sorted() == ["/v", "/w"])
        }
    }

    @Test func `a rule's answer without attachments keeps those of the leaves`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.insertReplicated([
                peer("d", path("1-a")),
                peer("d", path("2-b", "a"), attachments: [database.makeAttachment("photo", content: [1])]),
                peer("d", path("2-c", "a"), attachments: [database.makeAttachment("photo", content: [2])]),
            ])
            let join = MergeRule.custom("join") { clash in
                .string(clash.versions.compactMap { $0?.string }.joined(separator: "\n"))
            }
            let settlement = try database.settle("d", using: .threeWayMerge(onClash: join))
            if settlement.outcome == .settled {
                #expect(try database.document("d")?.attachments.map(\.name) == ["photo"])
            }
        }
    }

    @Test func `replicas with different spellings of a revision write the same result`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            for (database, text) in [(a, #"{"v":1.50,"x":0,"s":"\u00e9"}"#), (b, #"{"v":1.5,"x":0,"s":"é"}"#)] {
                try database.insertReplicated([
                    peer("d", path("1-a"), ["x": 0]), peer("d", path("2-w", "a"), DocumentBody(parsing: text)),
                    peer("d", path("2-b", "a"), ["x": 0, "y": 1]),
                ])
            }
            let policy = ConflictPolicy.custom("rebuilt") { conflict in
                .merged(["v": 1.5, "x": 0, "s": "é"], attachments: [])
            }
            let one = try a.settle("d", using: policy)
            let two = try b.settle("d", using: policy)
            #expect(one.written == two.written)
        }
    }

    @Test func `a three-way merge equal to the winner writes the same, however the winner is spelled`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            for (database, text) in [(a, #"{"s":"\u00e9","x":1}"#), (b, #"{"s":"é","x":1}"#)] {
                try database.insertReplicated([
                    peer("d", path("1-a"), ["s": "", "x": 0]), peer("d", path("2-w", "a"), DocumentBody(parsing: text)),
                    peer("d", path("2-b", "a"), ["s": "", "x": 1]),
                ])
            }
            let one = try a.settle("d", using: .threeWayMerge())
            let two = try b.settle("d", using: .threeWayMerge())
            #expect(one.written == two.written)
        }
    }

    @Test func `a deep document is merged within a time limit`() throws {
        func deep(_ value: Int) throws -> DocumentBody {
            try DocumentBody(
                parsing: String(repeating: #"{"a":"#, count: 1000) + "\(value)" + String(repeating: "}", count: 1000))
        }
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("d", path("1-a"), deep(0)), peer("d", path("2-b", "a"), deep(1)),
                peer("d", path("2-c", "a"), deep(2)),
            ])
            var policy = ConflictPolicy.threeWayMerge()
            policy.timeLimit = .seconds(300)
            try database.settle("d", using: policy)
            #expect(try database.conflictedDocumentIDs() == [])
        }
    }

    @Test(arguments: [50, 200])
    func `a conflict of many entangled leaves can be merged`(teeth: Int) throws {
        try withDatabases(1) { databases in
            try storeComb(in: databases[0], teeth: teeth)
            // The trunk's revisions get contents, so that there are bases.
            for number in 1..<teeth {
                let signatures = try (1...number).reversed().map {
                    try RevisionID(validating: "1-trunk\($0)").signature
                }
                try databases[0].insertReplicated([
                    peer("d", try RevisionHistory(start: UInt64(number), signatures: signatures), ["v": 0])
                ])
            }
            #expect(try databases[0].settle("d", using: .threeWayMerge()).outcome == .settled)
        }
    }
}
