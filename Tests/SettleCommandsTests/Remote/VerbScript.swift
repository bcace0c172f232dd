import Testing

/// Commands that are run on a folder and on a URL.
///
/// `DB` stands for the database, `@3` for the output of the third command.
struct VerbScript: CustomTestStringConvertible, Sendable {
    struct Call: Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        var words: [String]
        var input = ""

        init(stringLiteral value: String) { words = value.split(separator: " ").map(String.init) }
        init(arrayLiteral elements: String...) { words = elements }
        init(_ words: String, input: String) {
            self.init(stringLiteral: words)
            self.input = input
        }
    }

    let testDescription: String
    let calls: [Call]

    static let all = [
        VerbScript(
            testDescription: "documents",
            calls: [
                "create DB", "create DB",
                #"put DB milk {"name":"Milk","count":1}"#, "get DB milk", #"put DB milk {"count":2}"#,
                #"put DB milk {"count":2} --rev @2"#, #"put DB milk {"count":3} --rev @2"#,
                #"put DB milk {"count":3} --rev 7-00000000000000000000000000000000"#,
                #"put DB milk {"count":4} --force"#,
                "get DB milk --revs", "get DB milk --rev @2", "get DB milk --rev 1-00000000000000000000000000000000",
                "get DB none", "put DB bad [1]", #"put DB bad {"_x":1}"#, ["put", "DB", "a/b é+%", "{}"],
                ["get", "DB", "a/b é+%"], "put DB _design/d {}", "get DB _design/d", "tree DB milk --json",
                "put DB _local/x {}", #"put DB _local/x {"v":2}"#, "get DB _local/x", "delete DB _local/x",
                "delete DB _local/x", "get DB _local/x",
            ]),
        VerbScript(
            testDescription: "deletions",
            calls: [
                "create DB", #"put DB a {"owner":"me","v":1}"#, "delete DB a", "delete DB a --rev @1 --keep owner",
                "get DB a", "get DB a --rev @3", "delete DB a --force", #"put DB a {"v":2}"#, "get DB a --revs",
                "delete DB a --force", #"put DB a {"v":3} --force"#, "tree DB a --json", "delete DB none --force",
                "purge DB a", "purge DB a", "get DB a",
            ]),
        VerbScript(
            testDescription: "attachments",
            calls: [
                "create DB", Call("attach DB a - --name b.txt", input: "some text"),
                Call("attach DB a - --name c.bin", input: "bytes"), "get DB a", "get DB a --attachments",
                "get DB a --attachment b.txt", "get DB a --attachment none", #"put DB a {"v":1} --rev @2"#, "get DB a",
                "detach DB a b.txt", "detach DB a b.txt", "get DB a", "attach DB b missing-file",
                #"put DB i {"_attachments":{"t":{"content_type":"text/plain","data":"aGVsbG8="}}}"#, "get DB i",
                Call("attach DB a - --name late --rev @2", input: "x"), "export DB", "export DB --winners-only",
            ]),
        VerbScript(
            testDescription: "lists",
            calls: [
                "create DB",
                Call(
                    "import DB - --json",
                    input: (0..<30).map { "{\"_id\":\"n:\($0 < 10 ? "0" : "")\($0)\",\"n\":\($0)}\n" }.joined()),
                "delete DB n:11 --force", "delete DB n:22 --force", "docs DB", "docs DB --json --limit 3",
                "docs DB --limit 0", "docs DB --prefix n:1 --bodies", "docs DB --from n:25 --limit 2",
                "docs DB --prefix n:1 --from n:15 --descending", "docs DB --descending --limit 2", "docs DB --deleted",
                "docs DB --deleted --bodies --descending", "docs DB --conflicts", "changes DB --json --limit 5",
                "changes DB --descending --limit 3 --docs --json", "changes DB",
                "changes DB --json --all-leaves --docs", "changes DB --since 28 --json", "changes DB --limit 0",
                "export DB --no-deleted", "export DB out.jsonl", "export DB --local",
            ]),
        VerbScript(
            testDescription: "conflicts",
            calls: [
                "create DB", #"put DB a {"n":1,"tags":["x"],"s":"t"}"#,
                #"put DB a {"n":2,"tags":["x"],"s":"t"} --rev @1"#,
                #"put DB a {"n":5,"tags":["x","y"],"s":"u"} --rev @1 --allow-conflict"#, "tree DB a",
                "tree DB a --json",
                #"put DB b {"v":1}"#, #"put DB b {"v":2} --rev @6"#, #"put DB b {"v":3} --rev @6 --allow-conflict"#,
                #"put DB c {"v":1}"#, "delete DB c --rev @9", #"put DB c {"v":2} --rev @9 --allow-conflict"#,
                "conflicts DB --json", "conflicts DB --deletions --json", "conflicts DB --counts --json",
                "conflicts DB --limit 1 --json", "docs DB --conflicts", "show DB a --json", "show DB c --json",
                "show DB none",
                "resolve DB a --dry-run --merge-rule /n=sum --json", "resolve DB a --merge-rule /n=sum --json",
                "tree DB a --json", "get DB a --revs --conflicts", "resolve DB a --policy deletesWin",
                "resolve DB b --keep @7",
                "tree DB b --json", "resolve DB c --policy deletesWin --json", "tree DB c --json",
                "conflicts DB --counts",
                "resolve DB none --delete", "export DB",
            ]),
        VerbScript(
            testDescription: "all conflicts",
            calls: [
                "create DB", #"put DB a {"v":1}"#, #"put DB a {"v":2} --rev @1"#,
                #"put DB a {"v":3} --rev @1 --allow-conflict"#,
                Call("attach DB b - --name t.txt", input: "one"),
                Call("attach DB b - --name u.txt --rev @4", input: "two"),
                #"put DB b {"w":1} --rev @4 --allow-conflict"#,
                "resolve DB --all --policy mostRevisions --dry-run --json",
                "resolve DB --all --policy threeWayMerge --json", "tree DB a --json", "tree DB b --json",
                "conflicts DB",
                "resolve DB --all --policy threeWayMerge --json", "export DB",
            ]),
        VerbScript(
            testDescription: "imports",
            calls: [
                Call("import DB - --no-create", input: "{}"), "create DB", #"put DB a {"v":1}"#,
                Call(
                    "import DB - --json",
                    input: """
                        {"_id":"a","v":2}
                        {"_id":"b","v":2,"_attachments":{"t":{"content_type":"text/plain","data":"aGVsbG8="}}}
                        {"_id":"r","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"v":1}
                        {"_id":"r","_rev":"2-c","_revisions":{"start":2,"ids":["c","a"]},"_deleted":true}
                        {"_id":"bad","_foo":1}
                        nonsense
                        {"_id":"_local/l","v":1}
                        """),
                Call("import DB - --json --on-conflict skip", input: #"{"_id":"a","v":3}"#),
                Call("import DB - --json --on-conflict overwrite", input: #"[{"_id":"a","v":3},{"_id":"a","v":4}]"#),
                Call(
                    "import DB - --json",
                    input: #"{"docs":[{"_id":"r","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}}]}"#),
                Call("import DB - --stop-on-error --batch 1", input: "{\"_id\":\"a\"}\n{\"_id\":\"z\"}\n"), "docs DB",
                "export DB --local",
            ]),
        VerbScript(
            testDescription: "views",
            calls: [
                "create DB",
                Call(
                    "import DB - --json",
                    input: (0..<30).map {
                        "{\"_id\":\"n\($0)\",\"n\":\($0 % 7),\"day\":[2026,\($0 % 3)],\"t\":\"é\($0)\"}\n"
                    }.joined()),
                [
                    "put", "DB", "_design/shop",
                    #"{"views":{"n":{"map":"function (doc) { emit(doc.n, doc.t) }"},"#
                        + #""day":{"map":"function (doc) { emit(doc.day, doc.n) }","reduce":"_sum"},"#
                        + #""link":{"map":"function (doc) { emit(doc.n, {_id: 'n0'}) }"}}}"#,
                ],
                "design list DB --json", "design list DB", "query DB shop/n --json", "query DB shop/n",
                "query DB _design/shop/n --key 3 --json", "query DB shop/n --keys [6,99,1] --json",
                "query DB shop/n --startkey 5 --endkey 2 --descending --limit 4 --skip 1 --json",
                "query DB shop/n --startkey 2 --endkey 4 --exclude-end --json",
                "query DB shop/n --startkey 2 --startkey-docid n3 --endkey 2 --endkey-docid n9 --json",
                "query DB shop/n --key 1 --include-docs --conflicts",
                "query DB shop/link --limit 2 --include-docs --json",
                "query DB shop/day", "query DB shop/day --group --json", "query DB shop/day --group-level 1",
                "query DB shop/day --no-reduce --limit 3 --json", "query DB shop/day --keys [[2026,1]] --group --json",
                #"put DB new {"n":3}"#, "query DB shop/n --key 3 --update false --json",
                "query DB shop/n --key 3 --json",
                "query DB shop/n --key 99", "query DB shop", "query DB shop/n --key milk",
                "query DB shop/n --key 1 --keys [1]", "query DB shop/n --update maybe",
            ]),
        VerbScript(
            testDescription: "queries by selector",
            calls: [
                "create DB",
                Call(
                    "import DB - --json",
                    input: (0..<30).map {
                        "{\"_id\":\"n\($0)\",\"n\":\($0 % 7),\"at\":{\"day\":\($0 % 3)},\"t\":\"é\($0)\"}\n"
                    }.joined()),
                ["find", "DB", "n > 4"], ["find", "DB", "n > 4", "--json"], ["find", "DB", "n > 4", "--count"],
                ["find", "DB", "n > 4 && t begins \"é1\"", "--fields", "t,at.day"],
                ["find", "DB", "at.day = 1", "--limit", "3", "--skip", "2", "--json"],
                ["find", "DB", "n = 3", "--sort", "t"], ["find", "DB", "n = 3", "--sort", "t", "--json"],
                "index create DB n t --name by-n --ddoc shop", "index create DB n t --name by-n --ddoc shop",
                ["index", "create", "DB", "t", "--where", "n = 2", "--ddoc", "twos", "--name", "twos", "--json"],
                ["find", "DB", "n = 3", "--sort", "-t", "--json"], ["find", "DB", "n = 3", "--sort", "t,n"],
                ["find", "DB", "n = 3 && t > 'é'", "--explain"],
                ["find", "DB", "n = 3 && t > 'é'", "--explain", "--use-index", "twos"],
                ["find", "DB", "t > 'é'", "--use-index", "twos", "--fields", "t,n"],
                ["find", "DB", "n = 3", "--use-index", "none"], #"find DB {"n":{"$foo":1}}"#, "find DB [1]",
                ["find", "DB", "n = 3", "--bookmark", "nonsense"], ["find", "DB", "n = 9 && n = 1"],
                "index delete DB none", "index delete DB twos", "index delete DB shop/by-n", "index list DB --json",
                "docs DB --limit 1",
                #"put DB _design/code {"language":"javascript","views":{"a":{"map":"function (doc) {}"}}}"#,
                "index create DB n --ddoc code",
            ]),
    ]
}
