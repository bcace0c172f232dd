import SettleTesting
import Testing

/// The examples of the article about conflicts behave as it says.
@Suite struct ConflictSnippetTests {
    private func lines(of snippet: String) throws -> [String] {
        let (status, output) = try BuiltTool(snippet).run([])
        #expect(status == 0)
        let lines = output.split(separator: "\n").map(String.init)
        // Warnings go to another stream.
        return lines.filter { !$0.hasPrefix("settle: ") }
    }

    @Test func `the article's race of John and Marie`() throws {
        #expect(try lines(of: "AttributeClocks") == [#""Family Holidays" 50"#, "after the budget"])
    }

    @Test func `the article's own examples`() throws {
        #expect(
            try lines(of: "Conflicts") == [
                #"read: {"name":"Oat milk","count":2,"note":"low fat"}"#,
                "in conflict: milk",
                #"leaf: {"name":"Oat milk","count":2,"note":"low fat"}"#,
                #"leaf: {"name":"Milk","count":3}"#,
                #"base: {"name":"Milk","count":1,"note":"low fat"}"#,
                #"/name → "Oat milk" – only 2-f6e1a35d01121657112f086556878c67 changed it"#,
                "/count → 4 – clash, decided by the rule “sum”",
                "/note → null – only 2-d19aef33b07798cbe7375cc47fdbca96 changed it",
                "write 2-f6e1a35d01121657112f086556878c67 ── 3-daf6f3b81067ce75e0c1421b400667a6",
                "close 2-d19aef33b07798cbe7375cc47fdbca96 ── 3-dbdb6a31465906637cbe86156015abee",
                #"settled {"name":"Oat milk","count":4}"#,
                #"tombstone: {"$closed":"3-daf6f3b81067ce75e0c1421b400667a6"}"#,
                "the same revisions: true",
                #"{"due":"2030-04-30"}"#,
                "1 settled, 0 left, 0 failed",
                #""Brunch""#,
                #"read: {"name":"Bread","count":2}"#,
                #"disputed: ["bread"]"#,
                "read: null",
                "stays in conflict: NoPrice()",
                "left: 0",
                "tea settled",
            ])
    }

    // SEMANTICS 15, 16, 52
    @Test func `Couchbase Lite's examples`() throws {
        #expect(
            try lines(of: "ConflictsCouchbaseLite") == [
                #"a {"name":"from Molly","changeX":"Molly's"}"#,
                #"b {"name":"from Naomi","changeY":"Naomi's"}"#,
                #"c {"name":"from Naomi","changeX":"Molly's","changeY":"Naomi's"}"#,
                "d null",
                #"{"name":"apples","count":3}"#,
            ])
    }

    // SEMANTICS 71, 84, 85, 86
    @Test func `Cloudant Sync's examples`() throws {
        #expect(
            try lines(of: "ConflictsCloudant") == [
                "a", "winner 5", "closed 4", #"{"name":"here","here":true,"there":true} [4-x, 3-y]"#,
                #"1 {"from":"there"}"#,
            ])
    }
}
