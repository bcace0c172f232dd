import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseMergeHandlerTests {
    // SEMANTICS 52, 58
    @Test(arguments: Kinds.all)
    func `a handler adds its keys to the current ones`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            var mine = try database.add("a", ["both": 1, "removed": 1])
            try database.save(try theirs(database), onConflict: .fail)
            mine["removed"] = nil
            mine["both"] = "mine"
            mine["new"] = true
            let saved = try database.save(
                mine,
                onConflict: .merge { new, current in
                    for member in current?.json.object ?? [:] where new[member.name] == nil {
                        new[member.name] = member.value
                    }
                    return true
                })
            // The removed key is restored: two versions can't distinguish a removal from an addition.
            #expect(try saved.body() == ["both": "mine", "new": true, "removed": 1, "current": 2])
            #expect(saved.revision?.generation == 3)
            #expect(try database.document("a") == saved)
        }
    }

    private func theirs(_ database: Database) throws -> Document {
        var theirs = try database.document("a") ?? Document(id: "a")
        theirs["both"] = "theirs"
        theirs["current"] = 2
        return theirs
    }

    // SEMANTICS 52
    @Test(arguments: Kinds.all)
    func `a handler is not called when there is no conflict`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            let handler = SaveConflict.merge { _, _ in throw Nonsense() }
            let saved = try database.save(mine, onConflict: handler)
            #expect(try database.delete(saved, onConflict: handler) != nil)
        }
    }

    // SEMANTICS 53
    @Test(arguments: Kinds.all)
    func `a deleted current document is nil, and the handler may revive it or not`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.delete("a")
            let seen = Log<Bool>()
            func answer(_ isMerged: Bool) -> SaveConflict {
                .merge { _, current in
                    seen.add(current == nil)
                    return isMerged
                }
            }
            #expect(code { try database.save(mine, onConflict: answer(false)) } == .conflict)
            #expect(try database.document("a") == nil)
            #expect(try database.save(mine, onConflict: answer(true)).revision?.generation == 3)
            #expect(try database.document("a") != nil)
            #expect(seen.values == [true, true])
        }
    }

    // SEMANTICS 54
    @Test(arguments: Kinds.all)
    func `a handler that declines leaves the database unchanged`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            let theirs = try database.set("a", "v", 2)
            let handler = SaveConflict.merge { new, _ in
                new["v"] = "changed"
                return false
            }
            #expect(code { try database.save(mine, onConflict: handler) } == .conflict)
            #expect(code { try database.delete(mine, onConflict: handler) } == .conflict)
            #expect(try database.document("a") == theirs)
            #expect(try database.lastSequence() == 2)
        }
    }

    // SEMANTICS 55
    @Test(arguments: Kinds.all)
    func `a handler that throws fails the save with its error and a warning`(kind: DatabaseKind) throws {
        let warnings = Log<String>()
        var options = DatabaseOptions()
        options.warn = { warnings.add($0) }
        try withTemporaryDatabase(kind, options: options) { database in
            let mine = try database.add("a")
            try database.set("a", "v", 2)
            let error = #expect(throws: DatabaseError.self) {
                try database.save(mine, onConflict: .merge { _, _ in throw Nonsense() })
            }
            #expect(error?.code == .conflict)
            #expect(error?.cause is Nonsense)
            #expect(error?.description.contains("Nonsense") == true)
            #expect(warnings.values.count == 1)
            #expect(warnings.values.first?.contains("Nonsense") == true)
            #expect(try database.document("a")?["v"] == 2)
        }
    }

    // SEMANTICS 56, 146
    @Test(arguments: Kinds.all)
    func `a write while the handler runs makes it run again`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.set("a", "v", 2)
            let seen = Log<JSONValue?>()
            let saved = try database.save(
                mine,
                onConflict: .merge { new, current in
                    seen.add(current?["v"])
                    if seen.values.count == 1 { try database.set("a", "v", 3) }
                    new["merged"] = current?["v"]
                    return true
                })
            #expect(seen.values == [2, 3])
            #expect(saved["merged"] == 3)
            #expect(saved.revision?.generation == 4)
            #expect(try database.tree(of: "a")?.leaves.count == 1)
        }
    }

    // SEMANTICS 57
    @Test(arguments: Kinds.all)
    func `a save of a document purged while the handler runs is not found`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.set("a", "v", 2)
            let handler = SaveConflict.merge { _, _ in
                try database.purge("a")
                return true
            }
            #expect(code { try database.save(mine, onConflict: handler) } == .notFound)
            #expect(try database.document("a") == nil)
        }
    }

    // SEMANTICS 48, 51
    @Test(arguments: Kinds.all)
    func `a delete merges as well, and leaves a deleted document alone`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.set("a", "v", 2)
            #expect(try database.delete(mine, onConflict: .merge { _, _ in true })?.revision?.generation == 3)
            #expect(try database.delete(mine, onConflict: .merge { _, _ in throw Nonsense() }) == nil)
        }
    }
}
