import Foundation
import SettleTesting
import Testing

@testable import SettleCommands

struct DistributionTests {
    private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The words of a text that begin with one of some beginnings, without what is not part of a path at their end.
    private func paths(in text: String, beginningWith starts: [String]) -> [String] {
        text.split { $0.isWhitespace || "\"'=:|;()".contains($0) }.map(String.init)
            .filter { word in starts.contains { word.hasPrefix($0) } && !word.contains("*") && !word.contains("$") }
    }

    @Test func `the version of the tool is the newest one of the changelog`() throws {
        let headings = try text("CHANGELOG.md").split(separator: "\n").filter { $0.hasPrefix("## [") }
        let newest = try #require(headings.first { !$0.hasPrefix("## [Unreleased]") })
        let words = newest.dropFirst(4).split(separator: "]", maxSplits: 1)
        #expect(words.first.map(String.init) == VersionCommand.number)
        #expect(try Room().run("--version").output.hasPrefix("settle \(VersionCommand.number)"))
        #expect(try Room().run("help", "--man").output.contains("settle \(VersionCommand.number)\""))
        #expect(Set(headings).count == headings.count)
    }

    @Test func `every file of the repository that packaging names exists`() throws {
        let starts = ["Examples/", "LICENSE", "LICENSES/", "Scripts/", "Sources/", "CHANGELOG.md", ".ci/"]
        for file in ["Scripts/dist.sh", "Dockerfile", ".github/workflows/ci.yml", "Makefile"] {
            for path in paths(in: try text(file), beginningWith: starts) {
                #expect(FileManager.default.fileExists(atPath: root.appending(path: path).path), "\(file): \(path)")
            }
        }
        for path in ["control", "conffiles", "copyright", "files", "postinst", "prerm", "postrm"] {
            #expect(FileManager.default.fileExists(atPath: root.appending(path: "Scripts/dist/\(path)").path))
        }
    }

    @Test func `the documented modules are libraries of the package`() throws {
        let list = try #require(try text(".spi.yml").split(separator: "[").last?.split(separator: "]").first)
        let package = try text("Package.swift")
        for module in list.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            #expect(package.contains(#"name: "\#(module)""#), "\(module)")
        }
    }

    // Packages are made on Linux.
    #if os(Linux)
    @Test func `what is packed is all there, and as the tool writes it`() throws {
        let room = try Room()
        let process = Process()
        process.executableURL = root.appending(path: "Scripts/dist.sh")
        process.arguments = ["stage", try Room.tool("settle").path, room.path("stage")]
        try process.run()
        #expect(process.waitForEnd() == 0)
        let listed = try text("Scripts/dist/files").split(separator: "\n").map(String.init)
        let staged = try FileManager.default.subpathsOfDirectory(atPath: room.path("stage")).filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: room.path("stage/\(path)"), isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        #expect(staged.sorted() == listed)
        func packed(_ path: String) throws -> String {
            String(decoding: try room.contents(of: "stage/share/\(path)"), as: UTF8.self)
        }
        #expect(try packed("man/man1/settle.1") == ManualPage.text)
        #expect(try packed("bash-completion/completions/settle") == CompletionScript.bash.text)
        #expect(try packed("zsh/site-functions/_settle") == CompletionScript.zsh.text)
        #expect(try packed("fish/vendor_completions.d/settle.fish") == CompletionScript.fish.text)
    }

    @Test func `the service runs the packed program with the packed settings`() throws {
        let unit = try text("Examples/systemd/settle.service")
        #expect(unit.contains("\nExecStart=/usr/local/bin/settle serve --config /etc/settle/settle.json\n"))
        #expect(try text("Scripts/dist/conffiles") == "/etc/settle/settle.json\n")
        #expect(try text("Scripts/dist/postinst").contains("password=/etc/settle/admin-password\n"))
        #expect(unit.contains("\nLoadCredential=admin-password:/etc/settle/admin-password\n"))
        for line in ["DynamicUser=yes", "StateDirectory=settle", "NoNewPrivileges=yes", "ProtectSystem=strict"] {
            #expect(unit.contains("\n\(line)\n"))
        }
        let room = try Room()
        let shown = try room.run(
            "serve", "--config", root.appending(path: "Examples/systemd/settle.json").path, "--show-settings")
        #expect(shown.status == 0, "\(shown.errors)")
    }
    #endif
}
