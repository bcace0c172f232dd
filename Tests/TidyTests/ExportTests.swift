import Testing

/// What `import Settle` shows an app: the types that Settle.swift exports, and their members.
struct ExportTests {
    private static let list = "docs/IMPORT_SETTLE.txt"
    private static let inside: Set<Substring> = [
        "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleViews", "SettleReplication",
    ]

    /// The types that a text exports by name.
    private func exported(in text: String) -> Set<Substring> {
        Set(
            text.split(separator: "\n").filter { $0.hasPrefix("@_exported public import ") }
                .compactMap { $0.split(separator: ".").last })
    }

    /// The names that an app sees, of the public declarations.
    private func names(shown declarations: String, exported: Set<Substring>) -> Set<String> {
        Set(
            declarations.split(separator: "\n").compactMap { line in
                guard let blank = line.firstIndex(of: " "), let end = line.firstRange(of: ": ") else { return nil }
                let (module, name) = (line[..<blank], line[line.index(after: blank)..<end.lowerBound])
                let type = name.split(separator: ".").first ?? ""
                return module == "Settle" || (Self.inside.contains(module) && exported.contains(type))
                    ? String(name) : nil
            })
    }

    @Test func `what an import of Settle shows is what its list says`() throws {
        let repository = Repository.shared
        let umbrella = try #require(repository.file("Sources/Settle/Settle.swift")).text
        let declarations = try #require(repository.file("docs/API.txt")).text
        let listed = try #require(repository.file(Self.list)).text.split(separator: "\n").map(String.init)
        let shown = names(shown: declarations, exported: exported(in: umbrella))
        #expect(shown.count > 1000)
        #expect(listed == listed.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        let (new, gone) = (shown.subtracting(listed).sorted(), Set(listed).subtracting(shown).sorted())
        #expect(
            new.isEmpty, "an app sees these, and \(Self.list) does not name them: make them package, or run `make api`")
        #expect(gone.isEmpty, "\(Self.list) names these, and no app sees them: run `make api`")
    }

    @Test func `an umbrella exports by name, and each name once`() throws {
        let umbrella = try #require(Repository.shared.file("Sources/Settle/Settle.swift")).text
        let lines = umbrella.split(separator: "\n").filter { $0.hasPrefix("@_exported") }
        #expect(Set(lines).count == lines.count)
        #expect(lines.allSatisfy { $0.split(separator: " ").count == 5 && $0.contains(".") })
    }

    @Test func `only members of exported types are shown`() {
        let declarations = """
            SettleCore Tree.leaves: var leaves: [Node] { get }
            SettleCore Tree: struct Tree
            SettleCore Hasher.hash(_:): func hash(_ body: Body)
            Settle LiveQuery: final class LiveQuery
            SettleServer Tree.served: var served: Bool
            """
        let shown = names(
            shown: declarations, exported: exported(in: "@_exported public import struct SettleCore.Tree\n"))
        #expect(shown == ["Tree.leaves", "Tree", "LiveQuery"])
    }
}
