import Testing

/// The modules that a file in a folder `Apple` may import besides those of this package.
private let appleModules: Set = [
    "CommonCrypto", "CryptoKit", "Foundation", "FoundationNetworking", "Network", "Security",
]

/// Reports what makes a file for Apple's systems hard to check, for nobody compiles it here against Apple's SDK.
func appleFileComplaints(in file: SourceFile) -> [Complaint] {
    guard file.path.hasPrefix("Sources/"), file.path.contains("/Apple/") else { return [] }
    var complaints: [Complaint] = []
    if file.code.count >= 300 {
        complaints.append(file.complaint(300, "a file that only Apple's systems compile has fewer than 300 lines"))
    }
    if file.code.first(where: { !$0.allSatisfy(\.isWhitespace) })?.hasPrefix("#if ") != true {
        complaints.append(
            file.complaint(1, "a file in a folder Apple begins with #if, so that other systems leave it out"))
    }
    for declaration in declarations(in: file.code) where declaration.keyword == "import" {
        let module = importedModule(file.code[declaration.line - 1])
        guard !appleModules.contains(module), !module.hasPrefix("Settle") else { continue }
        complaints.append(file.complaint(declaration.line, "a file in a folder Apple must not import \(module)"))
    }
    return complaints
}

struct AppleFileTests {
    @Test func `files that only Apple's systems compile are short and import little`() {
        expectNone(Repository.shared.sources.flatMap(appleFileComplaints))
    }

    @Test(arguments: [
        ("Sources/A/Apple/B.swift", "#if canImport(Darwin)\ninternal import Security\n#endif\n", 0),
        ("Sources/A/Apple/B.swift", "internal import Security\n", 1),
        ("Sources/A/Apple/B.swift", "#if canImport(UIKit)\ninternal import UIKit\n#endif\n", 1),
        ("Sources/A/Apple/B.swift", "#if X\n" + String(repeating: "\n", count: 300) + "#endif\n", 1),
        ("Sources/A/B.swift", "internal import UIKit\n", 0),
    ])
    func `a file that is hard to check is found`(path: String, text: String, count: Int) {
        #expect(appleFileComplaints(in: SourceFile(path: path, text: text)).count == count)
    }
}
