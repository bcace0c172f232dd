import Testing

/// How the folders of a module use each other: a folder uses another one if its code names a type that is declared there.
///
/// Only type names that are unique in the module count; files in subfolders belong to the folder. An extension declares no
/// type, so a file that extends a type of another folder uses that folder.
struct FolderGraph {
    /// For each folder the folders it uses, with one file and type as the reason.
    private(set) var uses: [String: [String: String]] = [:]

    /// Builds the graph of one module.
    init(_ files: [SourceFile]) {
        var homes: [String: Set<String>] = [:]
        for file in files {
            for name in typeNames(in: file) { homes[name, default: []].insert(Self.folder(of: file)) }
        }
        for file in files {
            let folder = Self.folder(of: file)
            uses[folder, default: [:]] = uses[folder] ?? [:]
            for word in file.code.flatMap(Self.words) {
                guard let home = homes[word], home.count == 1, let other = home.first, other != folder else { continue }
                if uses[folder]?[other] == nil { uses[folder]?[other] = "\(file.path) names \(word)" }
            }
        }
    }

    /// The groups of folders that form a cycle, each in order.
    var cycles: [[String]] {
        var rest = Set(uses.keys)
        var found: [[String]] = []
        while let folder = rest.min() {
            let group = reached(from: folder).filter { reached(from: $0).contains(folder) }
            rest.subtract(group.union([folder]))
            if !group.isEmpty { found.append(group.sorted()) }
        }
        return found
    }

    /// The folders that a folder uses, directly or through others; the folder itself only if it is in a cycle.
    private func reached(from folder: String) -> Set<String> {
        var reached: Set<String> = []
        var waiting = [folder]
        while let next = waiting.popLast() {
            for other in (uses[next] ?? [:]).keys where reached.insert(other).inserted { waiting.append(other) }
        }
        return reached
    }

    private static func folder(of file: SourceFile) -> String {
        let parts = file.path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : "."
    }

    private static func words(_ line: String) -> [String] {
        line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.filter { $0.first?.isUppercase == true }
            .map(String.init)
    }

    private func typeNames(in file: SourceFile) -> [String] {
        let keywords: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        return declarations(in: file.code).filter { $0.scopes.isEmpty && keywords.contains($0.keyword) }.map(\.name)
    }
}

struct FolderCycleTests {
    @Test func `no folders of a module form a cycle`() {
        let modules = Dictionary(grouping: Repository.shared.sources) { $0.target ?? "" }
        for (module, files) in modules.sorted(by: { $0.key < $1.key }) {
            let graph = FolderGraph(files)
            for cycle in graph.cycles {
                let reasons = cycle.flatMap { folder in
                    (graph.uses[folder] ?? [:]).filter { cycle.contains($0.key) }.map { "\(folder) → \($0): \($1)" }
                }
                Issue.record("\(module): \(cycle.joined(separator: ", "))\n\(reasons.sorted().joined(separator: "\n"))")
            }
        }
    }

    @Test(arguments: [
        (["A": "struct One { let two: Two }", "B": "struct Two {}"], []),
        (["A": "struct One { let two: Two }", "B": "struct Two { var one: One? }"], [["A", "B"]]),
        (["A": "struct One {}", "B": "extension One { var two: Two { Two() } }\nstruct Two {}"], []),
        (
            [
                "A": "struct One { let three: Three }", "B": "extension One {}",
                "C": "struct Three {}\nextension Two {}",
            ], []
        ),
        (["A": "enum One: Three {}", "B": "enum Two: One {}", "C": "protocol Three {}\n// Two"], []),
        (["A": "enum One: Three {}", "B": "class Two: One {}", "C": "typealias Three = Two"], [["A", "B", "C"]]),
    ])
    func `a cycle is found by the types that files name`(texts: [String: String], cycles: [[String]]) {
        let files = texts.map { SourceFile(path: "Sources/M/\($0)/File.swift", text: $1) }
        #expect(FolderGraph(files).cycles == cycles)
    }
}
