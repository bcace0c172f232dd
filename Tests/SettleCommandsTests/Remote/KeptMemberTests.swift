import Settle
import SettleCore
import SettleTesting
import Testing

/// Databases whose tombstones keep members.
@Suite(.timeLimit(.minutes(5))) struct KeptMemberTests {
    /// A database in conflict, with members that its tombstones keep.
    private func fill(_ database: Database) throws {
        try database.setFieldsKeptOnDelete(["channel"])
        for (name, channel) in [("b", "x"), ("c", "y")] {
            let history = try RevisionHistory(start: 2, signatures: [name, "a"].compactMap { RevisionSignature($0) })
            try database.insertReplicated([
                ReplicatedRevision(
                    id: "a", history: history, body: ["v": .string(name), "channel": .string(channel)])
            ])
        }
        try database.save(Document(id: "plain", body: ["channel": "z", "v": 1]), onConflict: .fail)
    }

    @Test func `a settlement at a URL writes the same revisions as in a folder`() throws {
        let remote = try RemoteRoom(preparing: { try fill($0.create("db")) })
        let folder = try Database.create(remote.room.path("local"))
        try fill(folder)
        folder.close()
        var tombstones: [String] = []
        for database in ["local", remote.url()] {
            let settled = try remote.run("resolve", database, "a", "--delete", "--json")
            #expect(settled.status == 0, "\(settled.errors)")
            let deleted = try remote.run("delete", database, "plain", "--force", "--json").json
            let tree = try remote.run("changes", database, "--all-leaves", "--json").lines.map { line in
                let row = try JSONValue(parsing: line)
                return "\(row["id"] ?? .null) \(row["changes"] ?? .null)"
            }
            tombstones.append(tree.joined(separator: "\n") + "\(deleted["rev"] ?? .null)")
            // The deletion keeps the member; the tombstone that closes the other branch has none.
            let revisions = try remote.run("tree", database, "a", "--json").json["revisions"]?.array ?? []
            let leaves = revisions.filter { $0["leaf"] == true }
            let channels = try leaves.compactMap { leaf in
                let revision = leaf["rev"]?.string ?? ""
                return try remote.run("get", database, "a", "--rev", revision).json["channel"]?.string
            }
            #expect(channels == ["y"], "\(leaves)")
        }
        #expect(tombstones.count == 2 && tombstones[0] == tombstones[1])
    }
}
