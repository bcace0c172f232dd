import Testing

@testable import SettleCommands

struct SuggestionTests {
    @Test(arguments: [
        ("ls", ["docs"]), ("LS", ["docs"]), ("rm", ["delete"]), ("cat", ["get"]), ("mkdir", ["create"]),
        ("cp", ["pull", "export"]), ("merge", ["resolve"]), ("all_docs", ["docs"]), ("exprot", ["export"]),
        ("port", ["import", "export"]), ("Docs", ["docs"]), ("passwd", ["users"]), ("dbs", ["databases"]),
        ("compare", ["diff"]), ("x", []), ("frobnicate", []),
    ])
    func `a command that does not exist suggests those that do its work`(word: String, verbs: [String]) {
        #expect(Set(Suggestion.words(for: word, among: CommandList.specs.map(\.name))) == Set(verbs))
    }

    @Test(arguments: [
        ("three-way", "threeWayMerge?"), ("threeway", "threeWayMerge?"), ("3way", "threeWayMerge?"),
        ("3-way", "threeWayMerge?"), ("latest-attribute", "latestAttributeWins?"),
        ("latest", "latestAttributeWins or latestDocumentWins?"), ("lww", "latestAttributeWins or latestDocumentWins?"),
        ("theirs", "remoteWins?"), ("localwin", "localWins?"), ("zzz", "there are keepAll, "),
    ])
    func `a policy that does not exist names the near ones`(name: String, advice: String) throws {
        var arguments = Arguments(verb: "resolve")
        let policy = try #require(PolicyOptions.options.first)
        _ = arguments.set(policy, name)
        let error = try #require(throws: CommandError.self) {
            try PolicyOptions.policy(arguments, verb: "resolve")
        }
        #expect(error.message.contains(advice), "\(error.message)")
    }

    @Test(arguments: [
        ("docs", "-n", "did you mean --limit?"), ("docs", "--include_docs", "did you mean --bodies?"),
        ("changes", "--watch", "did you mean --follow?"), ("sync", "--follow", "did you mean --continuous?"),
        ("get", "--revision", "did you mean --rev?"), ("docs", "--winners-only", "it is an option of export"),
        ("docs", "-z", nil),
    ])
    func `an option that does not exist suggests its name here`(verb: String, option: String, advice: String?) throws {
        let spec = try CommandList.verb(verb).spec
        let error = try #require(throws: CommandError.self) {
            try ArgumentParser(spec: spec, elsewhere: CommandList.question).parse([option])
        }
        #expect(error.message.hasPrefix("there is no option \(option)" + (advice.map { "; \($0)" } ?? ". ")))
    }

    @Test func `each suggested name exists, and no existing command has another meaning`() {
        let actions = ["create", "delete", "list", "push", "pull", "show"]
        let options = CommandList.specs.flatMap(\.allOptions).map(\.name)
        let policies = PolicyOptions.options[0].help
        for (other, names) in OtherNames.all {
            #expect(!CommandList.specs.contains { $0.name == other }, "\(other)")
            for name in names {
                let isVerb = CommandList.specs.contains { $0.name == name } || actions.contains(name)
                #expect(isVerb || options.contains(name) || policies.contains(name), "\(name)")
            }
        }
    }
}
