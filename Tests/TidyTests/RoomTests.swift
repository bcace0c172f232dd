import Testing

private let architecturePath = "docs/ARCHITECTURE.md"

/// The limits of the tree of sources.
private enum Limit {
    static let foldersOfTarget = 12
    static let folders = 95
    static let files = 1020
    static let shortFiles = 30
    /// A file of fewer lines is short.
    static let short = 20
}

/// The folders of the targets, as the tables in docs/ARCHITECTURE.md list them.
///
///     ### SettleViews
///     | Folder | |
///     |---|---|
///     | `Index` | Rows in the order of their keys, in a file of their own. |
///
/// `.` is the folder of the target itself.
struct Rooms {
    /// For each target its folders, each with its purpose.
    private(set) var purposes: [String: [String: String]] = [:]

    /// Reads the tables.
    init(_ page: SourceFile) {
        var target: String?
        for line in page.lines {
            if line.hasPrefix("#") {
                let title = line.drop { $0 == "#" }.drop { $0 == " " }
                target = line.hasPrefix("### Settle") ? String(title) : nil
            }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }
            guard let target, cells.count == 4, cells[1].hasPrefix("`") else { continue }
            let folder = String(cells[1].dropFirst().prefix { $0 != "`" })
            purposes[target, default: [:]][folder] = String(cells[2])
        }
    }

    /// The folder of a source file inside its target.
    static func folder(of file: SourceFile) -> String {
        let parts = file.path.split(separator: "/").dropFirst(2).dropLast()
        return parts.isEmpty ? "." : parts.joined(separator: "/")
    }

    /// Reports folders that the page does not list, folders it lists that don't exist, and targets with too many of them.
    func complaints(about files: [SourceFile], page: SourceFile) -> [Complaint] {
        let targets = Dictionary(grouping: files) { $0.target ?? "" }
        let names = Set(targets.keys).union(purposes.keys)
        return names.sorted().flatMap { target -> [Complaint] in
            let found = Set((targets[target] ?? []).map(Self.folder))
            let listed = Set((purposes[target] ?? [:]).filter { $0.value.count > 3 }.keys)
            let missing = found.subtracting(listed).sorted()
                .map { page.complaint(1, "say what the folder \($0) of \(target) is for") }
            let gone = listed.subtracting(found).sorted()
                .map { page.complaint(1, "\(target) has no folder \($0)") }
            let most = Limit.foldersOfTarget
            let excess = found.count > most ? [page.complaint(1, "\(target) has more than \(most) folders")] : []
            return missing + gone + excess
        }
    }
}

/// Folders are subjects: a table names them, and no circle of types decides.
struct RoomTests {
    @Test func `every folder is in the table of its target, and a target has at most twelve`() throws {
        let repository = Repository.shared
        let page = try #require(repository.file(architecturePath))
        expectNone(Rooms(page).complaints(about: repository.sources, page: page))
    }

    @Test func `files and folders are few, and few files are short`() {
        let sources = Repository.shared.sources
        let folders = Set(sources.map { "\($0.target ?? "")/\(Rooms.folder(of: $0))" })
        let short = sources.filter { $0.lines.count < Limit.short }
        print("Sources: \(sources.count) files in \(folders.count) folders, \(short.count) under \(Limit.short) lines")
        #expect(sources.count <= Limit.files)
        #expect(folders.count <= Limit.folders)
        #expect(short.count <= Limit.shortFiles, "\(short.map(\.path))")
    }

    @Test(arguments: [
        (["One", "Two"], ["One", "Two"], 0), (["One", "Two"], ["One"], 1), (["One"], ["One", "Two"], 1),
        ((1...12).map { "F\($0)" }, (1...12).map { "F\($0)" }, 0),
        ((1...13).map { "F\($0)" }, (1...13).map { "F\($0)" }, 1),
        ([], ["."], 1), (["."], ["."], 0), (["One/Two"], ["One"], 2),
    ])
    func `a folder without its line is found`(folders: [String], listed: [String], count: Int) {
        let files = folders.map { folder in
            SourceFile(path: folder == "." ? "Sources/SettleA/A.swift" : "Sources/SettleA/\(folder)/A.swift", text: "")
        }
        let rows = listed.map { "| `\($0)` | Its purpose. |" }.joined(separator: "\n")
        let page = SourceFile(
            path: architecturePath, text: "### SettleA\n\n\(rows)\n\n## More\n\n| `x` | Not a folder. |\n")
        #expect(Rooms(page).complaints(about: files, page: page).count == count)
    }
}
