import SettlePlatform
import Testing

@testable import SettleCommands

struct ArgumentParserTests {
    private let spec = CommandSpec(
        "try", "try something", operands: [Operand("A", "first"), Operand("B", isOptional: true, "second")],
        options: [
            Option("--limit", value: "N", "a number"), Option("--output", short: "-o", value: "FILE", "a file"),
            Option("--keep", value: "NAME", isRepeatable: true, "names"), Option("--force", "a flag"),
        ],
        examples: [], json: "")

    private func parse(_ words: String...) throws -> Arguments { try ArgumentParser(spec: spec).parse(words) }

    private func failure(_ body: () throws -> Void) -> CommandError? {
        #expect(throws: CommandError.self, performing: body)
    }

    @Test func `operands are taken in order, and options at any place`() throws {
        let arguments = try parse("--limit", "5", "one", "-o", "file", "two", "--force")
        #expect(try arguments.operand("A") == "one")
        #expect(arguments.optionalOperand("B") == "two")
        #expect(try arguments.count("--limit") == 5)
        #expect(arguments.text("--output") == "file")
        #expect(arguments.flag("--force"))
        #expect(!arguments.flag("--json"))
    }

    @Test func `a value may follow an equals sign and contain another`() throws {
        #expect(try parse("a", "--output=x=y").text("--output") == "x=y")
        #expect(try parse("a", "--output=").text("--output") == "")
    }

    @Test func `after two dashes everything is an operand, and a single dash always is`() throws {
        let arguments = try parse("--", "--force", "-")
        #expect(try arguments.operand("A") == "--force")
        #expect(arguments.optionalOperand("B") == "-")
        #expect(!arguments.flag("--force"))
        #expect(try parse("-").operand("A") == "-")
    }

    @Test func `an option may be repeated if its spec says so`() throws {
        #expect(try parse("a", "--keep", "x", "--keep", "y").texts("--keep") == ["x", "y"])
        let error = failure { _ = try parse("a", "--limit", "1", "--limit", "2") }
        #expect(error?.message.contains("given twice") == true)
    }

    @Test func `a misspelled option suggests the nearest one`() {
        let error = failure { _ = try parse("a", "--limti", "3") }
        #expect(error?.message == "there is no option --limti; did you mean --limit? See `settle help try`")
        #expect(error?.status == .usage)
        #expect(failure { _ = try parse("a", "--zzz") }?.message.contains("did you mean") == false)
    }

    @Test func `a wrong command line is refused with the reason`() throws {
        #expect(failure { _ = try parse("a", "b", "c") }?.message.contains("unexpected argument") == true)
        #expect(failure { _ = try parse("a", "--limit") }?.message.contains("--limit N") == true)
        #expect(failure { _ = try parse("a", "--force=yes") }?.message.contains("takes no value") == true)
        #expect(failure { _ = try parse().operand("A") }?.message.contains("A is missing") == true)
        for text in ["-1", "x", "1.5", ""] {
            #expect(failure { _ = try parse("a", "--limit=\(text)").count("--limit") }?.status == .usage)
        }
        #expect(failure { try parse("a", "--force", "--limit=1").refuse("--force", with: "--limit") } != nil)
    }

    @Test(arguments: [
        ("creat", "create"), ("imprt", "import"), ("exprot", "export"), ("del", "delete"), ("chnages", "changes"),
        ("list", nil), ("x", nil), ("frobnicate", nil),
    ])
    func `an unknown command suggests the nearest one`(word: String, verb: String?) {
        #expect(NearestWord.find(word, in: CommandList.specs.map(\.name)) == verb)
    }

    @Test func `the edit distance counts changes and swaps`() {
        #expect(NearestWord.distance("", "abc") == 3)
        #expect(NearestWord.distance("abc", "acb") == 1)
        #expect(NearestWord.distance("kitten", "sitting") == 3)
        #expect(NearestWord.distance("same", "same") == 0)
    }
}
