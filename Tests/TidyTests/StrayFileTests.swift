import Testing

/// The allowed entries at the top of the repository.
private let topLevel: Set = [
    ".ci", ".dockerignore", ".editorconfig", ".git-blame-ignore-revs", ".gitattributes", ".github", ".gitignore",
    ".spi.yml",
    ".swift-format", "Benchmarks",
    "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "Examples",
    "Fuzz", "LICENSE", "LICENSES", "Makefile", "Package.swift", "README.md", "Scripts", "Snippets", "Sources", "Tests",
    "docs",
]

private let strayEndings = [".orig", ".rej", ".log", ".bak", ".tmp", ".swp", "~", ".DS_Store"]
private let strayNames: Set = ["plan.md", "notes.md", "note.md", "notes.txt", "todo.md", "todo.txt", "scratch.swift"]

/// Reports an unexpected file.
func strayFileComplaints(_ path: String) -> [Complaint] {
    let parts = path.split(separator: "/").map(String.init)
    guard let top = parts.first, let name = parts.last else { return [] }
    var complaints: [Complaint] = []
    if !topLevel.contains(top) {
        let advice = "\(top) is not a room of this repository: move it into one, or add it to `topLevel` here"
        complaints.append(Complaint(path: path, line: 1, advice: advice))
    }
    if strayNames.contains(name.lowercased()) || strayEndings.contains(where: name.hasSuffix) {
        complaints.append(Complaint(path: path, line: 1, advice: "a left-over or a working note: remove it"))
    }
    return complaints
}

struct StrayFileTests {
    @Test func `every file is in an expected folder`() {
        #expect(!Repository.shared.paths.isEmpty)
        expectNone(Repository.shared.paths.flatMap(strayFileComplaints))
    }

    @Test(arguments: ["README.md", "Sources/A/A.swift", "docs/ARCHITECTURE.md", ".ci/run"])
    func `a file in its folder passes`(path: String) {
        #expect(strayFileComplaints(path).isEmpty)
    }

    @Test(arguments: ["fix2.md", "Utils/A.swift", "Sources/A.swift.orig", "docs/plan.md", "Tests/run.log", "Notes.md"])
    func `a stray file is found`(path: String) {
        #expect(!strayFileComplaints(path).isEmpty)
    }
}
