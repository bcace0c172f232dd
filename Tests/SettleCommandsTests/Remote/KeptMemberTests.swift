import Settle
import SettleCore
import SettleTesting
import Testing

/// Databases whose tombstones keep members.
@Suite(.timeLimit(.minutes(5))) struct KeptMemberTests {
    /// A database with members that its tombstones keep, and two documents in conflict: `a`, and `r` with two racing answers
    /// to one question and an edit that neither has seen.
    ///
    ///     r   1-7 ─┬─ 2-b ─┬─ 3-c
    ///              │       └─ 3-d
    ///              ├─ 2-a ─┬─ 3-e ✕  $closed 3-c
    ///              │       └─ 3-f ✕  $closed 3-d
    ///              └─ 2-9
    private func fill(_ database: Database) throws {
        func insert(_ id: DocumentID, _ path: String, _ body: DocumentBody, isDeleted: Bool = false) throws {
            let history = try RevisionHistory(
                start: UInt64(path.count), signatures: path.compactMap { RevisionSignature(String($0)) })
            try database.insertReplicated([
                ReplicatedRevision(id: id, history: history, isDeleted: isDeleted, body: body)
            ])
        }
        try database.setAttributesKeptOnDelete(["channel"])
        for (name, channel) in [("b", "x"), ("c", "y")] {
            try insert("a", name + "a", ["v": .string(name), "channel": .string(channel)])
        }
        try insert("r", "7", ["n": 0, "channel": "x"])
        for (path, number) in [("b7", 1), ("a7", 2), ("cb7", 3), ("db7", 4), ("97", 5)] {
            try insert("r", path, ["n": .number(JSONNumber(number)), "channel": "y"])
        }
        try insert("r", "ea7", ["$closed": "3-c"], isDeleted: true)
        try insert("r", "fa7", ["$closed": "3-d"], isDeleted: true)
        try database.save(Document(id: "plain", body: ["channel": "z", "v": 1]), onConflict: .fail)
    }

    /// The leaves of all documents, in the order of the last changes.
    private func leaves(_ database: String, _ remote: RemoteRoom) throws -> [String] {
        try remote.run("changes", database, "--all-leaves", "--json").lines.map { line in
            let row = try JSONValue(parsing: line)
            return "\(row["id"] ?? .null) \(row["changes"] ?? .null)"
        }
    }

    @Test func `every way of settling writes the same revisions`() throws {
        let remote = try RemoteRoom(preparing: { store in
            for name in ["db", "other", "posted"] { try fill(store.create(name)) }
        })
        let proxy = try remote.disguise()
        let folder = try Database.create(remote.room.path("local"))
        try fill(folder)
        folder.close()
        var trees: [[String]] = []
        for database in ["local", remote.url(), remote.url("other", behind: proxy)] {
            var survivors: [JSONValue?] = []
            for id in ["a", "r"] {
                let settled = try remote.run("resolve", database, id, "--delete", "--json")
                #expect(settled.status == 0 && settled.json["outcome"] == "settled", "\(settled.errors)")
                survivors.append(settled.json["rev"])
            }
            let deleted = try remote.run("delete", database, "plain", "--force", "--json").json
            trees.append(try leaves(database, remote) + ["\(survivors)", "\(deleted["rev"] ?? .null)"])
            // The deletion keeps the member; the tombstone that closes the other branch has none.
            let revisions = try remote.run("tree", database, "a", "--json").json["revisions"]?.array ?? []
            let leaves = revisions.filter { $0["leaf"] == true }
            let channels = try leaves.compactMap { leaf in
                let revision = leaf["rev"]?.string ?? ""
                return try remote.run("get", database, "a", "--rev", revision).json["channel"]?.string
            }
            #expect(channels == ["y"], "\(leaves)")
        }
        var survivors: [JSONValue?] = []
        for (id, leaves) in [("a", ["2-c", "2-b"]), ("r", ["3-d", "3-c", "2-9"])] as [(String, [JSONValue])] {
            let answer = try remote.send(
                "POST", "posted/_settle/\(id)", ["delete": true, "leaves": .array(leaves)])
            #expect(answer["outcome"] == "settled", "\(answer)")
            survivors.append(answer["rev"])
        }
        let plain = try remote.run("get", remote.url("posted"), "plain").json["_rev"]?.string ?? ""
        let deleted = try remote.send("DELETE", "posted/plain?rev=\(plain)", .null)
        trees.append(
            try leaves(remote.url("posted"), remote) + ["\(survivors)", "\(deleted["rev"] ?? .null)"])
        #expect(Set(trees).count == 1, "\(trees)")
        proxy.stop()
    }
}
