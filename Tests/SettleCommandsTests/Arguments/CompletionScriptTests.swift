import Foundation
import SettleTesting
import Testing

@testable import SettleCommands

struct CompletionScriptTests {
    /// The part of a script that is about a command.
    private func part(_ shell: CompletionScript, _ verb: String) -> String {
        let lines = shell.text.split(separator: "\n").map(String.init)
        return switch shell {
        case .bash, .zsh: lines.first { $0.hasPrefix("    \(verb)) ") } ?? ""
        case .fish: lines.filter { $0.contains("seen_subcommand_from \(verb)'") }.joined(separator: "\n")
        }
    }

    @Test(arguments: CompletionScript.allCases)
    func `a script has every command and each of its options`(shell: CompletionScript) {
        for spec in CommandList.specs {
            #expect(shell.text.contains(spec.name))
            let part = part(shell, spec.name) + " "
            for option in spec.allOptions {
                let long = shell == .fish ? "-l \(option.name.dropFirst(2)) " : option.name
                #expect(part.contains(long), "\(spec.name) \(option.name)")
                guard let short = option.short else { continue }
                #expect(part.contains(shell == .fish ? "-s \(short.dropFirst()) " : short), "\(spec.name) \(short)")
            }
        }
    }

    @Test(arguments: CompletionScript.allCases)
    func `a shell accepts its script`(shell: CompletionScript) throws {
        let room = try Room()
        let script = try room.run("help", "--completions", shell.rawValue)
        #expect(script.output == shell.text && script.status == 0)
        try room.write(script.output, to: "script")
        #expect(try output(program(shell.rawValue), ["-n", "script"], in: room) == "")
    }

    @Test func `bash completes commands, options and topics`() throws {
        let room = try Room()
        try room.write(CompletionScript.bash.text, to: "script")
        func completed(_ words: String...) throws -> [String] {
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            let text =
                "source ./script; COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); _settle; echo ${COMPREPLY[*]}"
            return try output("/bin/bash", ["-c", text], in: room).split { $0.isWhitespace }.map(String.init)
        }
        #expect(try completed("settle", "do") == ["docs"])
        #expect(try completed("settle", "docs", "db", "--de") == ["--descending", "--deleted"])
        #expect(try completed("settle", "--json", "help", "exit") == ["exit-codes"])
        #expect(try completed("settle", "docs", "d") == [])
    }

    @Test func `fish completes commands, options and topics with what they mean`() throws {
        let room = try Room()
        try room.write(CompletionScript.fish.text, to: "script")
        func completed(_ line: String) throws -> [String] {
            try output(program("fish"), ["--no-config", "-c", "source script; complete -C '\(line)'"], in: room)
                .split(separator: "\n").map(String.init)
        }
        #expect(try completed("settle do") == ["docs\tlist documents by their ids"])
        let options = try completed("settle docs db --de")
        #expect(options == ["--deleted\tlist deleted documents instead", "--descending\tdescending order of ids"])
        #expect(try completed("settle help exit").map { $0.prefix { $0 != "\t" } } == ["exit-codes"])
    }

    @Test(arguments: ["fpath=($PWD $fpath); compinit -u -D", "compinit -u -D; source ./_settle"])
    func `zsh completes commands, options and topics, from a folder and sourced`(start: String) throws {
        let room = try Room()
        try room.write(CompletionScript.zsh.text, to: "_settle")
        // A shell at a terminal, whose Tab lists what fits and then says that this was all.
        try room.write(
            #"""
            zmodload zsh/zpty
            await() {
                shown=
                for ((turn = 0; turn < 6000; turn++)); do
                    while zpty -rt shell piece; do shown+=$piece; done
                    [[ $shown == *$1* ]] && return
                    sleep 0.02
                done
                exit 1
            }
            zpty shell zsh -f -i
            zpty -w shell "PS1=; autoload -Uz compinit; \#(start.replacing("$", with: "\\$")); LISTMAX=1000"
            zpty -w shell 'listed() { zle list-choices; zle -R; print; print -r END""ED }; zle -N listed; bindkey "^I" listed'
            # The editor reads keys when it says so. The terminal echoes each line, so none has the words that are awaited.
            zpty -w shell 'zle-line-init() { print -r REA""DY }; zle -N zle-line-init'
            await READY
            for line in "$@"; do
                zpty -w -n shell "$line"$'\t'
                await ENDED
                print -r -- "$shown"
                zpty -w -n shell $'\x15'
            done
            zpty -d shell
            """#, to: "ask")
        func completed(_ line: String) throws -> String { try output(program("zsh"), ["-f", "ask", line], in: room) }
        let verbs = try completed("settle do")
        #expect(verbs.contains("docs") && verbs.contains("list documents by their ids") && !verbs.contains("detach"))
        let options = try completed("settle docs db --de")
        #expect(options.contains("--descending") && options.contains("list deleted documents instead"), "\(options)")
        #expect(!options.contains("--limit"))
        #expect(try completed("settle help exit").contains("exit-codes"))
    }

    @Test func `an unknown shell is refused with the known ones`() throws {
        let error = try Room().run("help", "--completions", "tcsh")
        #expect(error.status == 2 && error.errors.contains("bash, zsh, fish"))
    }

    @Test func `the manual page has every command, option and exit code`() throws {
        let page = try Room().run("help", "--man").output
        #expect(page.hasPrefix(".TH SETTLE 1 "))
        let words = Set(page.replacing("\\-", with: "-").split { $0.isWhitespace || $0 == "," }.map(String.init))
        for spec in CommandList.specs {
            #expect(page.contains(".SS \(spec.name)\n"))
            for option in spec.allOptions { #expect(words.contains(option.name), "\(spec.name) \(option.name)") }
        }
        for status in ExitStatus.allCases { #expect(page.contains("\n.B \(status.rawValue)\n")) }
        for line in page.split(separator: "\n") where line.hasPrefix(".") {
            let isKnown = [".TH ", ".SH ", ".SS ", ".B ", ".TP", ".PP"].contains { line.hasPrefix($0) }
            #expect(isKnown, "\(line)")
        }
    }

    /// The path of a shell, which `Scripts/setup.sh --tests` installs.
    private func program(_ shell: String) throws -> String {
        let places = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(shell)" }
        return try #require(places.first(where: FileManager.default.isExecutableFile), "there is no \(shell)")
    }

    private func output(_ program: String, _ words: [String], in room: Room) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = words
        process.currentDirectoryURL = room.folder
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitForEnd()
        return String(decoding: bytes, as: UTF8.self)
    }
}
