import Foundation
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

    @Test func `every command has examples that its own parser accepts`() throws {
        for spec in CommandList.specs {
            #expect(!spec.examples.isEmpty && !spec.json.isEmpty, "\(spec.name)")
            for example in spec.examples {
                let words = Self.words(of: example.command, verb: spec.name)
                #expect(throws: Never.self) { _ = try ArgumentParser(spec: spec).parse(words) }
            }
        }
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
            } else if "|>&);".contains(character) {
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
