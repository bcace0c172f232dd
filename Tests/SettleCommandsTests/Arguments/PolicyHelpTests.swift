import SettleDatabase
import Testing

@testable import SettleCommands

struct PolicyHelpTests {
    @Test func `the help has the name and the sentence of every policy and of every rule`() {
        let lines = HelpText.policies(width: 1000).split(separator: "\n").map { String($0.drop(while: \.isWhitespace)) }
        let policies = lines.dropFirst().prefix(2 * ReadyPolicy.all.count)
        #expect(Array(policies) == ReadyPolicy.all.flatMap { [$0.name, $0.summary] })
        let rules = lines.suffix(2 * ReadyRule.all.count)
        #expect(Array(rules) == ReadyRule.all.flatMap { [$0.name, $0.summary] })
        #expect(lines.count == policies.count + rules.count + 2)
    }

    @Test func `the options of a policy name all of them`() {
        #expect(PolicyOptions.options[0].help.hasSuffix(": " + ReadyPolicy.all.map(\.name).joined(separator: ", ")))
        #expect(PolicyOptions.options[1].help.hasSuffix("by " + ReadyRule.all.map(\.name).joined(separator: ", ")))
    }

    @Test(arguments: ReadyPolicy.all.map(\.name)) func `a policy takes its options and no others`(name: String) throws {
        let options = try #require(ReadyPolicy.named(name)).options
        for (option, value, kind) in [
            (PolicyOptions.options[1], "/count=sum", ReadyPolicy.Option.rules),
            (PolicyOptions.options[2], "sum", .onClash),
        ] {
            var arguments = Arguments(verb: "resolve")
            _ = arguments.set(PolicyOptions.options[0], name)
            _ = arguments.set(option, value)
            if options.contains(kind) {
                #expect(try PolicyOptions.policy(arguments, verb: "resolve").name == name)
            } else {
                #expect(throws: CommandError.self) { try PolicyOptions.policy(arguments, verb: "resolve") }
            }
        }
    }
}
