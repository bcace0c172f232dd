import Testing

private let picturePath = "docs/architecture.svg"

/// The names that a picture gives its boxes.
private func names(in picture: SourceFile) -> Set<String> {
    let parts = picture.text.split(separator: "<text class=\"name\"").dropFirst()
    return Set(
        parts.compactMap { part in
            part.split(separator: ">", maxSplits: 1).last?.split(separator: "<").first.map(String.init)
        })
}

/// Reports targets without a box, and boxes that are no target.
func pictureComplaints(_ picture: SourceFile, targets: Set<String>) -> [Complaint] {
    let shown = names(in: picture).subtracting(["Your app"])
    let missing = targets.subtracting(shown).sorted().map { picture.complaint(1, "draw a box for the target \($0)") }
    let wrong = shown.subtracting(targets).sorted().map { picture.complaint(1, "there is no target \($0)") }
    return missing + wrong
}

struct ArchitecturePictureTests {
    @Test func `the picture of the architecture has a box for every target, and no other`() throws {
        let repository = Repository.shared
        let picture = try #require(repository.file(picturePath), "draw \(picturePath)")
        let targets = Set(
            repository.paths.filter { $0.hasPrefix("Sources/") }.compactMap { path in
                path.split(separator: "/").dropFirst().first.map(String.init)
            })
        #expect(targets.count > 20)
        expectNone(pictureComplaints(picture, targets: targets))
        let shown = repository.files.filter { ["docs/ARCHITECTURE.md", "README.md"].contains($0.path) }
        for file in shown { #expect(file.text.contains("architecture.svg)"), "\(file.path)") }
    }

    @Test(arguments: [
        (["A", "B"], 0), (["A"], 1), (["A", "B", "C"], 1), (["C"], 3), ([], 2),
    ])
    func `a wrong picture is found`(boxes: [String], count: Int) {
        let text = boxes.map { "<text class=\"name\" x=\"1\">\($0)</text><text>about it</text>\n" }.joined()
        let picture = SourceFile(path: picturePath, text: "<svg>\n\(text)</svg>\n")
        #expect(pictureComplaints(picture, targets: ["A", "B"]).count == count)
    }
}
