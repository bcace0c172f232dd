internal import SettleDatabase
internal import SettlePlatform

/// Suggests existing words for an unknown one: similar words, and those that have this name in other tools.
enum Suggestion {
    /// The maximum number of words in a suggestion.
    private static let most = 4

    /// The suggested words, the best first; empty if none is near.
    static func words(for given: String, among words: [String]) -> [String] {
        let plain = plain(given)
        if let same = words.first(where: { self.plain($0) == plain }) { return [same] }
        let meant = (OtherNames.all[plain] ?? []).filter(words.contains)
        if !meant.isEmpty { return meant }
        if plain.count >= 3 {
            let longer = words.filter { self.plain($0).contains(plain) }
            if !longer.isEmpty { return Array(longer.prefix(most)) }
        }
        // Each other letter would be near to a single letter.
        if plain.count < 2 { return [] }
        return NearestWord.find(given, in: words).map { [$0] } ?? []
    }

    /// A question that names the suggested words: `did you mean get or put?`
    static func question(for given: String, among words: [String]) -> String? {
        question(self.words(for: given, among: words))
    }

    /// A question that names some words; `nil` for an empty list.
    static func question(_ words: [String]) -> String? {
        guard let last = words.last else { return nil }
        let others = words.dropLast().joined(separator: ", ")
        return "did you mean \(others.isEmpty ? last : "\(others) or \(last)")?"
    }

    /// A word in lower case without separators, and with a leading number in letters: `3-way` and `threeWay` are
    /// the same.
    private static func plain(_ word: String) -> String {
        let letters = word.lowercased().filter { $0 != "-" && $0 != "_" }
        return letters.hasPrefix("3") ? "three" + letters.dropFirst() : letters
    }
}

// MARK: - OtherNames

/// Names of commands, actions, options and policies in other tools.
enum OtherNames {
    /// The names here, the best first, by the other name in lower case, without dashes and underscores.
    static let all: [String: [String]] = [commands, options, policies].reduce(into: [:]) { all, names in
        all.merge(names) { $0 + $1 }
    }

    /// Commands, and actions such as those of `settle index`.
    private static let commands = [
        "acl": ["security"], "add": ["put", "create", "push"], "adduser": ["users"], "alldbs": ["databases"],
        "alldocs": ["docs"], "cat": ["get"], "check": ["verify"], "clone": ["pull"], "cmp": ["diff"],
        "commit": ["put"], "compare": ["diff"], "completion": ["help"], "completions": ["help"], "console": ["shell"],
        "cp": ["pull", "export"], "dbs": ["databases"], "del": ["delete"], "deldb": ["drop"], "describe": ["info"],
        "destroy": ["drop"], "dir": ["docs", "list"], "dump": ["export"], "fetch": ["pull"], "fsck": ["verify"],
        "gc": ["compact"], "grant": ["security"], "grep": ["search", "find"], "history": ["tree", "log"],
        "indexes": ["index"], "indices": ["index"], "init": ["create"], "insert": ["put"], "list": ["docs"],
        "load": ["import"], "ls": ["docs", "list"], "make": ["create"], "man": ["help"], "members": ["security"],
        "merge": ["resolve"], "mkdir": ["create"], "mkindex": ["index"], "modify": ["edit", "put"], "new": ["create"],
        "passwd": ["users"], "password": ["users"], "permissions": ["security"], "remove": ["delete"],
        "repair": ["verify"], "repl": ["shell"], "replicate": ["sync", "push", "pull"], "revert": ["undo"],
        "revoke": ["security"], "revs": ["tree"], "rm": ["delete"], "rmdir": ["drop"], "rollback": ["undo"],
        "save": ["put"], "select": ["find"], "server": ["serve"], "set": ["put"], "start": ["serve", "create"],
        "stat": ["info"], "stats": ["info"], "tail": ["changes"], "touch": ["put"], "update": ["put", "edit"],
        "upload": ["attach"], "user": ["users"], "useradd": ["users"], "vacuum": ["compact"], "vi": ["edit"],
        "view": ["query", "get"], "views": ["design"], "vim": ["edit"], "watch": ["changes"], "where": ["find"],
        "write": ["put"],
    ]

    /// Options.
    private static let options = [
        "body": ["--bodies"], "columns": ["--fields"], "desc": ["--descending"], "follow": ["--continuous"],
        "includedocs": ["--bodies", "--include-docs"], "max": ["--limit"], "n": ["--limit"], "number": ["--limit"],
        "offset": ["--skip"], "order": ["--sort"], "orderby": ["--sort"], "password": ["--password-file"],
        "reverse": ["--descending"], "revision": ["--rev"], "silent": ["--quiet"], "timeout": ["--wait"],
        "token": ["--bearer-file"], "top": ["--limit"], "u": ["--user"], "username": ["--user"],
        "watch": ["--follow", "--continuous"],
    ]

    /// Policies.
    private static let policies: [String: [String]] = ReadyPolicy.all.reduce(into: [:]) { names, policy in
        for other in policy.otherNames { names[other, default: []].append(policy.name) }
    }
}
