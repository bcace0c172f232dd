import Testing

/// The lines of one verb that are run on a folder and at its server.
struct VerbCase: CustomTestStringConvertible, Sendable {
    /// A difference of the two outputs that stays, with its reason.
    struct Difference: Sendable {
        let reason: String
        /// What is replaced before the outputs are compared.
        var patterns: [(String, String)] = []
        /// Whether the outputs as a whole are different, so that exit codes and what is stored are compared.
        var isWhole = false

        static let positions = Difference(
            reason: """
                positions of a folder are numbers; those of a server have a mark, by which readers notice that a database was \
                replaced
                """,
            patterns: [
                (#"("(update_)?seq":)"([0-9]+)-[^"]*""#, "$1$3"), (#"(?m)^([0-9]+)-\S+"#, "$1"),
                (#"(Last change +)([0-9]+)-\S+"#, "$1$2"), (#"(?m)^(Path|URL ) "#, "Where"),
            ])
        static let search = Difference(
            reason: """
                a folder has one index for searches, with a choice of fields and words, and shows snippets; a server searches \
                the text indexes of its design documents by `$text`, which has another syntax and answers with documents
                """, isWhole: true)
        static let replications = Difference(
            reason: """
                a folder keeps replications between itself and a URL, which an app runs; a server keeps those of all its \
                databases in `_replicator`, and runs them
                """, isWhole: true)
        static let systemDatabases = Difference(
            reason: "a server that runs has databases of its own, `_users` and `_replicator`", isWhole: true)
        static let waiting = Difference(
            reason: "a compaction that is not waited for would end with the verb on a folder", isWhole: true)
    }

    struct Line: Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        var words: [String]
        var input = ""
        var environment: [String: String] = [:]
        var difference: Difference?
        /// The exit codes on a folder and at its server, if they are not the same.
        var exits: (folder: Int32, server: Int32)?

        init(stringLiteral value: String) { words = value.split(separator: " ").map(String.init) }
        init(arrayLiteral elements: String...) { words = elements }
        init(
            _ words: String, input: String = "", _ difference: Difference? = nil,
            exits: (folder: Int32, server: Int32)? = nil
        ) {
            self.init(stringLiteral: words)
            (self.input, self.difference, self.exits) = (input, difference, exits)
        }

        /// A line that runs a program as the editor.
        init(_ words: String, editor: String) {
            self.init(stringLiteral: words)
            environment = ["VISUAL": "", "EDITOR": editor]
        }
    }

    let verb: String
    let lines: [Line]
    /// What both databases have in common after the lines.
    enum Stored: Sendable {
        /// All of it.
        case same
        /// Revisions with their contents, there and in the other folder; not what a folder notes of what its peers have.
        case replicated
        /// Nothing that is compared: the verb writes elsewhere.
        case elsewhere
    }

    let stores: Stored
    var testDescription: String { verb }

    init(_ verb: String, _ lines: [Line], stores: Stored = .same) {
        (self.verb, self.stores) = (verb, stores)
        self.lines = lines.map { line in
            var line = line
            line.words.insert(verb, at: 0)
            return line
        }
    }

    /// The verbs that take no URL of a database.
    static let without: [String: String] = [
        "copy": "copies folders and databases of PostgreSQL exactly, which the API can't",
        "verify": "reads the files themselves, also those that a server could not open",
        "offline-sync": "sends the journal of a device to a server, and a server is not a device",
        "serve": "runs a server of folders", "restore": "makes the folder of a new server",
        "renew": "makes secrets of a server's folder", "postgres": "prepares a PostgreSQL",
        "help": "has no database", "version": "has no database",
        "inspect": "reads a file and no database",
        "users": "changes the users of a server, which a folder of a database does not have",
    ]

    static let all = [
        VerbCase("create", ["NEW", "NEW", "NEW --json", "DB", "NEW --journal"], stores: .elsewhere),
        VerbCase("databases", ["SERVER", "SERVER --json"]),
        VerbCase("drop", ["DB", "NEW --yes", "DB --yes --json", "DB --yes"], stores: .elsewhere),
        VerbCase(
            "diff",
            [
                "DB milk {milk1}", "DB milk {milk1} {milk} --json", "DB a {a} 2-b", "DB milk 7-a", "DB none 1-a",
                "DB DB", "DB DB --deleted --json", "DB OTHER",
            ]),
        VerbCase(
            "security",
            [
                "DB", "DB --json", "DB --member anna --admin-role editors", "DB --remove-member nobody",
                "DB --everybody --json", "NEW",
            ]),
        VerbCase("info", [Line("DB", .positions), Line("DB --json", .positions)]),
        VerbCase(
            "import",
            [
                Line("DB - --json", input: "{\"_id\":\"x\",\"n\":1}\n{\"_id\":\"milk\",\"n\":1}\nnonsense\n"),
                Line("DB - --json --on-conflict overwrite", input: #"[{"_id":"milk","n":2},{"_id":"x","n":2}]"#),
                Line("DB - --json --on-conflict skip", input: #"{"docs":[{"_id":"x","n":3}]}"#), "DB rows.csv",
                Line("DB -", input: #"{"_id":"r","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"v":1}"#),
                Line("DB - --stop-on-error", input: "{\"_id\":\"x\"}\n{\"_id\":\"y\"}\n"),
                Line("NEW - --no-create", input: "{}"),
                Line(
                    "DB - --json",
                    input: """
                        {"name":"@cloudant/couchbackup","version":"2.9.10","mode":"full"}
                        [{"_id":"q","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]}},{"_id":"q","_rev":"2-c","_deleted":true}]
                        """), Line("DB - --json", input: "nonsense"),
                Line("DB - --json", input: #"{"_id":"x","n":3}"# + "\n" + #"{"_id":"x","n":3}"#),
            ]),
        VerbCase(
            "export",
            ["DB", "DB --winners-only", "DB --no-deleted --local", "DB --csv", "DB --csv --fields _id,count", "NEW"]),
        VerbCase(
            "docs",
            [
                "DB", "DB --json", "DB --bodies --limit 3", "DB --deleted", "DB --deleted --bodies", "DB --conflicts",
                "DB --conflicts --json", "DB --conflicts --descending --limit 1", "DB --prefix n --from n3", "DB --csv",
            ]),
        VerbCase(
            "get",
            [
                "DB milk", "DB milk --revs", "DB milk --attachments", "DB milk --attachment label.txt",
                "DB milk --rev {milk1}", "DB milk --rev 7-a", "DB a --conflicts --revs", "DB c --conflicts", "DB old",
                "DB none", "DB _local/note", "DB _design/shop", "DB milk --attachment none",
            ]),
        VerbCase(
            "put",
            [
                #"DB new {"v":1}"#, #"DB new {"v":2}"#, #"DB bread {"v":2} --rev {bread}"#,
                #"DB bread {"v":3} --force"#,
                #"DB milk {"v":3} --rev {milk1}"#, #"DB milk {"v":3} --rev {milk2} --allow-conflict"#,
                #"DB milk {"v":4,"_attachments":{}} --rev {milk} --allow-conflict"#,
                #"DB n1 {"v":4} --rev 9-a --allow-conflict"#, #"DB old {"v":1}"#, #"DB _local/note {"v":2}"#,
                #"DB .. {"v":1}"#, #"DB _bad {"v":1}"#, Line("DB piped - --json", input: #"{"v":1.50}"#),
                Line("DB bad", input: "nonsense"),
            ]),
        VerbCase(
            "edit",
            [
                Line("DB bread", editor: "perl -pi -e s/4/5/"), Line("DB bread --json", editor: "true"),
                Line("DB fresh --json", editor: "perl -pi -e 's/{}/{\"v\":1.50}/'"),
                Line("DB milk", editor: "perl -pi -e s/2/3/"), Line("DB a --rev 2-b", editor: "perl -pi -e s/3/4/"),
                Line("DB milk --rev {milk1}", editor: "true"), Line("DB bread", editor: "false"),
                Line("DB old --json", editor: "perl -pi -e 's/{}/{\"v\":2}/'"), Line("DB _local/note", editor: "true"),
            ]),
        VerbCase(
            "delete",
            [
                "DB bread", "DB bread --rev {bread} --json", "DB n1 --force --keep count", "DB a --rev 2-b",
                "DB milk --rev {milk1}", "DB old --force", "DB none --force", "DB _local/note", "DB c --force",
            ]),
        VerbCase(
            "changes",
            [
                Line("DB", .positions), Line("DB --json --all-leaves", .positions),
                Line("DB --json --docs --since 5 --limit 4", .positions),
                Line("DB --descending --since 9 --json", .positions), Line("DB --descending --limit 2", .positions),
            ]),
        VerbCase(
            "attach",
            [
                "DB milk photo.txt", Line("DB milk - --name label.txt --type text/x", input: "new"),
                "DB fresh photo.txt --json", "DB milk photo.txt --rev {milk1}", "DB milk missing",
            ]),
        VerbCase("detach", ["DB milk label.txt", "DB milk label.txt", "DB none label.txt"]),
        VerbCase(
            "find",
            [
                ["DB", "count > 2"], ["DB", "count > 2", "--json"], ["DB", "count > 2", "--count"],
                ["DB", "count > 2", "--csv", "--fields", "_id,count"], ["DB", "count > 0", "--sort", "-count"],
                ["DB", "name = 'Milk'", "--explain"], ["DB", "count > 2", "--use-index", "none", "--json"],
                ["DB", "v > 1", "--conflicts", "--json"], ["DB", "v > 1", "--sort", "v"], ["DB", "count = 99"],
            ]),
        VerbCase(
            "index",
            [
                "list DB", "list DB --json", "build DB", "build DB by-count --json", "create DB name --name by-name",
                "create DB name --name by-name --json", "list DB --json", "create DB --text --name texts --json",
                "list DB", "build DB texts --json", "delete DB by-count --json", "delete DB none", "list DB --json",
            ]),
        VerbCase("search", [Line("DB Milk", .search, exits: (0, 5)), Line("DB Milk --json", .search, exits: (0, 5))]),
        VerbCase(
            "query",
            [
                "DB shop/count", "DB shop/count --json --limit 2 --include-docs", "DB shop/count --update lazy --json",
                "DB shop/count --key 4 --json", "DB shop/none", "DB none/none",
            ]),
        VerbCase(
            "design",
            [
                "list DB", "list DB --json", "info DB shop --json", "build DB shop", "info DB shop",
                "push DB files --dry-run",
                "push DB files --json", "push DB files", "pull DB files OTHER --json", "list DB --json",
            ]),
        // A folder notes what a peer has of it, and forgets that of its journal. Checkpoints have random names.
        VerbCase("push", ["DB OTHER", "DB OTHER --json"], stores: .replicated),
        VerbCase("pull", ["DB OTHER", "DB OTHER --json"], stores: .replicated),
        VerbCase("sync", ["DB OTHER", "DB OTHER --json"], stores: .replicated),
        VerbCase(
            "replications",
            [
                Line("list DB", .replications, exits: (0, 2)),
                Line("add DB local http://127.0.0.1:1/x --json", .replications, exits: (0, 2)),
            ], stores: .elsewhere),
        VerbCase(
            "conflicts",
            ["DB", "DB --json", "DB --deletions --json", "DB --counts --json", "DB --limit 1", "DB --deletions"]),
        VerbCase(
            "show",
            [
                "DB a", "DB a --json", "DB a --full --policy localWins", "DB a --policy remoteWins --json",
                "DB b --merge-rule /v=max", "DB c --json", "DB c --policy deletesWin", "DB bread", "DB bread --json",
                "DB none",
            ]),
        VerbCase(
            "tree",
            ["DB a", "DB a --json", "DB b", "DB c", "DB c --json", "DB milk --full --json", "DB old --json", "DB none"]),
        VerbCase(
            "resolve",
            [
                "DB a --policy threeWayMerge --dry-run", "DB a --policy localWins --dry-run --json",
                "DB --all --policy remoteWins --dry-run --json", "DB a --keep 2-b --json",
                "DB c --policy mostRevisions --json", "DB c --delete --json", "DB a --delete", "DB none --delete",
                "DB --all --policy localWins --json", "DB --all --policy threeWayMerge",
            ]),
        VerbCase(
            "log",
            [
                "DB", "DB --json", "DB milk --json", "DB --limit 2", "DB none --json", "DB --off", "DB",
                "DB --on --json", "DB --json",
            ]),
        VerbCase("status", ["DB", "DB --json", "NEW"]),
        VerbCase(
            "undo", ["DB", "DB -n 2 --json", "DB milk", "DB milk --json", "DB none", "DB --all --json", "DB"]),
        VerbCase("compact", ["DB --json", "DB --json", Line("DB --no-wait", .waiting, exits: (2, 0))]),
        VerbCase("purge", ["DB bread", "DB a --rev 2-b --json", "DB none", "DB bread"]),
        VerbCase("backup", [Line("SERVER OTHER --json", .systemDatabases)]),
        VerbCase(
            "shell",
            [
                Line("DB", input: "get milk\nput milk '{}'\nfind 'count > 2' --json\nnonsense\nresolve a --keep 2-b\n"),
                Line("DB --json", input: "conflicts\ndocs --limit 2\n"),
            ]),
    ]
}
