import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleCommands

/// The values that completions of shells ask the tool for.
@Suite(.timeLimit(.minutes(5))) struct CompletedValueTests {
    let remote: RemoteRoom
    private var room: Room { remote.room }

    init() throws {
        remote = try RemoteRoom()
        try room.run("create", "groceries.settle")
        for id in ["milk", "mint", "bread", "a:b"] { try room.run("put", "groceries", id, #"{"count":1}"#) }
        try room.run("put", "groceries", "_design/shop", #"{"views":{"by-count":{"map":"function (doc) {}"}}}"#)
        try room.run("index", "create", "groceries", "count", "--name", "by-count", "--ddoc", "counts")
        try room.write("a photo", to: "photo.txt")
        try room.run("attach", "groceries", "bread", "photo.txt")
        try FileManager.default.createDirectory(atPath: room.path("stock"), withIntermediateDirectories: true)
        try remote.run("create", remote.url("numbers"))
    }

    private func values(_ line: String) throws -> [String] { try remote.run("complete-values", line).lines }

    @Test func `values of each kind are found, from a folder and from a URL`() throws {
        #expect(try values("settle get groceries m") == ["milk", "mint"])
        #expect(try values("settle --json get groceries --revs br") == ["bread"])
        #expect(try values("settle get groceries _d") == ["_design/counts", "_design/shop"])
        #expect(try values("settle docs g") == ["groceries.settle"])
        #expect(try values("settle docs ") == ["groceries.settle", "stock/"])
        #expect(try values("settle sync groceries \(remote.url(""))n") == [remote.url("numbers")])
        try remote.run("create", remote.url("a%2Fb"))
        #expect(try values("settle docs \(remote.url("a"))") == [remote.url("a%2Fb")])
        #expect(try values("settle resolve groceries milk --policy latest").count == 2)
        #expect(try values("settle resolve groceries milk --merge-rule /a=su") == ["/a=sum"])
        #expect(try values("settle resolve groceries milk --on-clash=un") == ["--on-clash=union"])
        #expect(try values("settle index bu") == ["build"])
        #expect(try values("settle index build groceries by") == ["by-count"])
        #expect(try values("settle find groceries x --use-index counts/") == ["counts/by-count"])
        #expect(try values("settle query groceries s") == ["shop/by-count"])
        #expect(try values("settle design info groceries s") == ["shop"])
        #expect(try values("settle get groceries bread --attachment p") == ["photo.txt"])
        #expect(try values("settle get groceries bread --rev 1").count == 1)
        #expect(try values("settle diff groceries bread 2-").count == 1)
        #expect(try values("settle users pass") == ["password"])
        #expect(try values("settle help --completions f") == ["fish"])
    }

    @Test func `where nothing fits, nothing is printed and nothing fails`() throws {
        for line in [
            "", "settle", "settle do", "settle docs groceries --de", "settle frobnicate x", "settle get none m",
            "settle get groceries 'mi # ", "settle get http://127.0.0.1:1/x m", "settle put groceries milk ",
            "settle sync groceries http://", "settle docs groceries extra extra ",
        ] {
            let outcome = try remote.run("complete-values", line)
            #expect(outcome.status == 0 && outcome.output == "", "\(line): \(outcome)")
        }
    }

    @Test func `bash completes values, also those with a colon`() throws {
        try room.write(CompletionScript.bash.text, to: "script")
        func completed(_ line: String) throws -> [String] {
            // As readline splits it.
            var words: [String] = []
            for part in line.split(separator: " ", omittingEmptySubsequences: false) {
                for (index, piece) in part.split(separator: ":", omittingEmptySubsequences: false).enumerated() {
                    words += index == 0 ? [String(piece)] : [":", String(piece)]
                }
            }
            words[0] = try Room.tool().path
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            let text = """
                source ./script; COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1)
                COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}; COMP_WORDBREAKS=$' \\t\\n"><=;|&(:'"'"
                _settle; printf '%s\\n' "${COMPREPLY[@]}"
                """
            return try output("/bin/bash", ["-c", text]).split(separator: "\n").map(String.init)
        }
        #expect(try completed("settle get groceries m") == ["milk", "mint"])
        #expect(try completed("settle get groceries a:") == ["b"])
        #expect(try completed("settle show groceries milk --policy three") == ["threeWayMerge"])
    }

    @Test func `fish completes values of operands and options`() throws {
        try room.write(CompletionScript.fish.text, to: "script")
        let folder = try Room.tool().deletingLastPathComponent().path
        func completed(_ line: String) throws -> [String] {
            let text = "set -x PATH \(folder) $PATH; source script; complete -C '\(line)'"
            return try output("/usr/bin/env", ["fish", "--no-config", "-c", text]).split(separator: "\n").map {
                String($0.prefix { $0 != "\t" })
            }
        }
        #expect(try completed("settle get groceries m") == ["milk", "mint"])
        #expect(try completed("settle show groceries milk --policy three") == ["threeWayMerge"])
    }

    @Test func `zsh completes values of operands and options`() throws {
        try room.write(CompletionScript.zsh.text, to: "_settle")
        let folder = try Room.tool().deletingLastPathComponent().path
        // A shell at a terminal, whose Tab inserts what fits.
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
                print -r -- "never shown: $1 in $shown"
                exit 1
            }
            zpty shell zsh -f -i
            zpty -w shell "PS1=; autoload -Uz compinit; fpath=(\$PWD \$fpath); compinit -u -D"
            zpty -w shell 'done-with-it() { zle expand-or-complete; print; print -r "<$BUFFER>END"ED; zle -R }; zle -N done-with-it; bindkey "^I" done-with-it'
            zpty -w shell 'print REA''DY'
            await READY
            for line in "$@"; do
                zpty -w -n shell "$line"$'\t'
                await ENDED
                print -r -- "$shown"
                zpty -w -n shell $'\x15'
            done
            zpty -d shell
            """#, to: "ask")
        func completed(_ line: String) throws -> String {
            try output(
                "/usr/bin/env", ["zsh", "-f", "ask", line],
                ["PATH": "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"])
        }
        #expect(try completed("settle get groceries bre").contains("<settle get groceries bread "))
        #expect(try completed("settle show groceries milk --policy thr").contains("--policy threeWayMerge "))
    }

    private func output(_ program: String, _ words: [String], _ environment: [String: String] = [:]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = words
        process.currentDirectoryURL = room.folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitForEnd()
        return String(decoding: bytes, as: UTF8.self)
    }
}
