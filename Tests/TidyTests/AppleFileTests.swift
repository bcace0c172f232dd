import Testing

/// The modules that a file for Apple's systems may import besides those of this package.
private let appleModules: Set = [
    "CommonCrypto", "CryptoKit", "Foundation", "FoundationNetworking", "Network", "Security", "os",
]

/// The beginnings of a file that only Apple's systems compile, or stand-ins for their libraries.
private let appleBeginnings = [
    "canImport(Darwin)", "canImport(CryptoKit)", "canImport(CommonCrypto)", "canImport(os)", "SETTLE_APPLE",
].map { "#if " + $0 }

/// Reports what makes a file for Apple's systems hard to check, for nobody compiles it here against Apple's SDK.
///
/// Such a file begins with its condition, or is in a folder `Apple`.
func appleFileComplaints(in file: SourceFile) -> [Complaint] {
    guard file.path.hasPrefix("Sources/") else { return [] }
    let beginning = file.code.first { !$0.allSatisfy(\.isWhitespace) } ?? ""
    let isConditional = beginning.hasPrefix("#if ")
    guard file.path.contains("/Apple/") || appleBeginnings.contains(where: beginning.hasPrefix) else { return [] }
    var complaints: [Complaint] = []
    if file.code.count >= 300 {
        complaints.append(file.complaint(300, "a file that only Apple's systems compile has fewer than 300 lines"))
    }
    if !isConditional {
        complaints.append(
            file.complaint(1, "a file in a folder Apple begins with #if, so that other systems leave it out"))
    }
    for declaration in declarations(in: file.code) where declaration.keyword == "import" {
        let module = importedModule(file.code[declaration.line - 1])
        guard !appleModules.contains(module), !module.hasPrefix("Settle") else { continue }
        complaints.append(file.complaint(declaration.line, "a file for Apple's systems must not import \(module)"))
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
        ("Sources/A/B.swift", "// A.\n#if canImport(CryptoKit)\ninternal import UIKit\n#endif\n", 1),
        ("Sources/A/B.swift", "#if SETTLE_APPLE && X\n" + String(repeating: "\n", count: 300) + "#endif\n", 1),
        ("Sources/A/B.swift", "#if os(Linux)\ninternal import UIKit\n#endif\n", 0),
    ])
    func `a file that is hard to check is found`(path: String, text: String, count: Int) {
        #expect(appleFileComplaints(in: SourceFile(path: path, text: text)).count == count)
    }
}
