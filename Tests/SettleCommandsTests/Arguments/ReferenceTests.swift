import Foundation
import Settle
import Testing

@testable import SettleCommands

struct ReferenceTests {
    @Test func `the reference in docs equals the tool's help`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let written = try String(contentsOf: root.appending(path: "docs/CLI.md"), encoding: .utf8)
        #expect(written == Reference.markdown, "run `swift run settle help --markdown > docs/CLI.md`")
        for spec in CommandList.specs { #expect(written.contains(HelpText.verb(spec))) }
        #expect(written.contains(HelpText.exitCodes()))
    }

    @Test func `the overview lists every command once, in its group with one line`() {
        let lines = HelpText.overview().split(separator: "\n").map(String.init)
        for group in CommandList.groups {
            let start = lines.firstIndex(of: group.title) ?? lines.count
            let names = lines.dropFirst(start + 1).prefix(group.verbs.count).map {
                $0.split(separator: " ").first.map(String.init)
            }
            #expect(names == group.verbs.map { $0.spec.name }, "\(group.title)")
        }
        #expect(Set(CommandList.specs.map(\.name)).count == CommandList.specs.count)
        for spec in CommandList.specs { #expect(spec.examples.count > 1, "\(spec.name) has one example only") }
    }

    @Test func `the version names the commit where the build knows it`() {
        #expect(VersionCommand.line(commit: "0a1b-dirty") == "settle 0.1.0 (0a1b-dirty)")
        #expect(VersionCommand.line(commit: nil) == "settle 0.1.0")
        #expect(VersionCommand.json(commit: "0a1b") == ["version": "0.1.0", "commit": "0a1b"])
        #expect(VersionCommand.json(commit: nil) == ["version": "0.1.0"])
    }

    @Test func `every command has examples that its own parser accepts`() throws {
        for spec in CommandList.specs {
            #expect(!spec.examples.isEmpty && !spec.json.isEmpty, "\(spec.name)")
            for example in spec.examples {
                let words = Self.words(of: example.command, verb: spec.name)
                #expect(throws: Never.self) { _ = try ArgumentParser(spec: spec).parse(words) }
            }
        }
    }

    @Test(arguments: [
        "for ever", "who one is", "who you are", "brought", "at the most", "by itself", "is told", "not told",
        "is not there",
        "made into", "let go", "makes it", "behind it",
    ])
    func `the help uses the words of the field`(phrase: String) {
        #expect(!Reference.markdown.lowercased().contains(phrase))
    }

    @Test func `no two options of a command share a name`() {
        for spec in CommandList.specs {
            let names = spec.allOptions.flatMap { [$0.name, $0.short].compactMap(\.self) }
            #expect(Set(names).count == names.count, "\(spec.name)")
        }
    }

    /// The words after the command's name, as a shell splits them, up to a pipe or a redirection.
    private static func words(of command: String, verb: String) -> [String] {
        guard let range = command.range(of: "settle \(verb)") else { return [] }
        var words = [""]
        var quote: Character?
        for character in command[range.upperBound...] {
            if let open = quote {
                if character == open { quote = nil } else { words[words.count - 1].append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if "|<>&);".contains(character) {
                break
            } else if character == " " {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }
}
