import Settle
import SettleDatabase
import Testing

@testable import SettleServer

/// `/_policies`: what the console's forms and other clients learn of policies and rules.
@Suite struct PolicyListTests {
    @Test func `the server lists the ready policies and rules for anyone`() throws {
        let client = try RouterClient.with(users: ["eve": []])
        let answer = try client.send(as: "", "GET", "/_policies")
        #expect(answer.status == 200)
        let policies = answer.json["policies"]?.array ?? []
        #expect(policies.map { $0["name"]?.string } == ReadyPolicy.all.map(\.name))
        #expect(policies.map { $0["summary"]?.string } == ReadyPolicy.all.map(\.summary))
        let rules = answer.json["rules"]?.array ?? []
        #expect(rules.map { $0["name"]?.string } == ReadyRule.all.map(\.name))
        #expect(rules.map { $0["summary"]?.string } == ReadyRule.all.map(\.summary))
        let standard = try #require(answer.json["default"]?.string)
        #expect(policies.contains { $0["name"]?.string == standard })
    }

    @Test(arguments: ReadyPolicy.all.map(\.name)) func `a listed policy settles what the list says`(name: String) throws
    {
        let client = try ConflictRoom.client()
        let listed = try client.send("GET", "/_policies").json["policies"]?.array?.first { $0["name"]?.string == name }
        let decides = listed?["decides"]?.array?.compactMap(\.string) ?? []
        for (id, kind) in [("milk", "branches"), ("tea", "branches"), ("tea", "deletion")] {
            // A document in conflict with a deletion counts as that, too.
            guard decides.contains(kind) else { continue }
            let answer = try client.send("POST", "/db/_settle/\(id)", ["policy": .string(name), "dry_run": true])
            #expect(answer.status == 200, "\(answer.json)")
        }
        let unsettled = try client.send("POST", "/db/_settle/milk", ["policy": .string(name), "dry_run": true])
        #expect((unsettled.json["outcome"] == "left") == decides.isEmpty, "\(unsettled.json)")
    }

    @Test(arguments: ReadyPolicy.all.map(\.name)) func `a listed policy takes its options and no others`(
        name: String
    ) throws {
        let client = try ConflictRoom.client()
        let listed = try client.send("GET", "/_policies").json["policies"]?.array?.first { $0["name"]?.string == name }
        let options = listed?["options"]?.array?.compactMap(\.string) ?? []
        let values: [(String, JSONValue)] = [
            ("rules", ["/count": "sum"]), ("on_clash", "leave"), ("deletions_win", true),
        ]
        for (option, value) in values {
            let policy: JSONValue = .object(JSONObject([("name", .string(name)), (option, value)]))
            let answer = try client.send("POST", "/db/_settle/milk", ["policy": policy, "dry_run": true])
            #expect(answer.status == (options.contains(option) ? 200 : 400), "\(option): \(answer.json)")
        }
    }

    @Test func `each listed rule is a rule, and its name is that of its policy`() {
        for rule in ReadyRule.all { #expect(ReadyRule.rule(rule.name) != nil, "\(rule.name)") }
        for text in ["", "Sum", "sum:", "sum:a", "array", "array:", ":a"] {
            #expect(ReadyRule.rule(text) == nil, "\(text)")
        }
        #expect(ReadyRule.rule("array:a:b")?.kind == .array(identifiedBy: "a:b"))
        for policy in ReadyPolicy.all { #expect(policy.policy().name == policy.name) }
        #expect(ReadyPolicy.named(ReadyPolicy.defaultName) != nil)
    }
}
