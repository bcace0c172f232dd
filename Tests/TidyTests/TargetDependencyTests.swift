import Testing

private let system: Set = [
    "Foundation", "FoundationEssentials", "Synchronization", "Dispatch", "SettlePlatform",
]

/// The modules that each target may import, as in docs/ARCHITECTURE.md.
private let allowedImports: [String: Set<String>] = [
    "SettlePlatform": ["Glibc", "Musl", "Android", "Darwin", "CZlib"],
    "SettleCrypto": ["CCrypto", "CommonCrypto"],
    "SettleCore": ["Synchronization", "SettlePlatform", "SettleCrypto"],
    "SettleQuery": system.union(["SettleCore", "CPCRE2"]),
    "SettleDatabase": system.union(["SettleCrypto", "SettleCore", "SettleQuery", "CSQLite", "os"]),
    "SettleHTTP": system.union([
        "SettleCrypto", "SettleCore", "SettleDatabase", "CCurl", "Network", "Security", "FoundationNetworking",
    ]),
    "SettleReplication": system.union([
        "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleMobile", "CCurl", "CCrypto",
        "Network", "CryptoKit", "FoundationNetworking",
    ]),
    "SettleViews": system.union([
        "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase", "CSQLite",
    ]),
    "SettleScripting": system.union([
        "SettleCore", "SettleDatabase", "CJavaScriptCore", "JavaScriptCore", "CScriptPrelude",
    ]),
    "Settle": [
        "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleReplication", "SettleViews", "Observation",
    ],
    "SettleImport": system.union(["SettleCrypto", "SettleCore", "SettleDatabase", "SettleMobile", "CSQLite"]),
    "SettleUI": ["Settle", "SwiftUI"],
    "SettleTesting": system.union([
        "SettleCore", "SettleDatabase", "SettleHTTP", "SettleReplication", "Settle", "Testing",
    ]),
    "SettleMobile": system.union(["SettleCrypto", "SettleCore", "SettleDatabase"]),
    "SettlePostgres": system.union(["SettleCore", "SettleDatabase", "CPostgres"]),
    "SettleServer": system.union([
        "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleReplication",
        "SettleScripting", "SettleViews", "CMicroHTTPD", "CCrypto", "CConsole", "SettleMobile", "SettleImport",
    ]),
    "SettleCommands": system.union([
        "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleReplication", "SettleViews",
        "Settle", "SettleServer", "SettleScripting", "SettlePostgres", "SettleImport", "CSettleBuild", "CLibEdit",
    ]),
    "SettleSimulate": ["SettlePlatform", "Settle", "SettleTesting", "SettleFleet"],
    "SettleFleet": system.union([
        "SettleCore", "SettleCrypto", "SettleDatabase", "SettleHTTP", "SettleMobile", "SettleReplication",
        "SettleServer", "SettleTesting", "Settle",
    ]),
    "SettleTool": ["SettleCommands"],
]

/// Reports imports that a target is not allowed.
func importComplaints(in file: SourceFile) -> [Complaint] {
    guard let target = file.target else {
        return [file.complaint(1, "a source file belongs into the folder of a target")]
    }
    guard let allowed = allowedImports[target] else {
        return [file.complaint(1, "the target \(target) is new: say in `allowedImports` here what it may import")]
    }
    return declarations(in: file.code).compactMap { declaration in
        guard declaration.keyword == "import" else { return nil }
        let module = importedModule(file.code[declaration.line - 1])
        guard !allowed.contains(module) else { return nil }
        let advice = "\(target) must not import \(module): it depends only on targets above it"
        return file.complaint(declaration.line, advice)
    }
}

/// The module of an import line, also of `import struct Module.Type`.
func importedModule(_ line: String) -> String {
    let words = line.split { $0.isWhitespace || $0 == ";" }
    let path =
        words.drop { $0 != "import" }.dropFirst()
        .first { !["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"].contains($0) } ?? ""
    return String(path.prefix { $0 != "." })
}

struct TargetDependencyTests {
    @Test func `every target imports only its allowed dependencies`() {
        expectNone(Repository.shared.sources.flatMap(importComplaints))
    }

    @Test func `the revision tree does not import Foundation`() {
        let file = SourceFile(path: "Sources/SettleCore/A.swift", text: "import Foundation\n")
        #expect(importComplaints(in: file).count == 1)
        let essentials = SourceFile(path: "Sources/SettleCore/A.swift", text: "import FoundationEssentials\n")
        #expect(importComplaints(in: essentials).count == 1)
    }

    @Test(arguments: [
        ("Sources/SettleCore/A.swift", "import SettleDatabase", 1),
        ("Sources/SettleCore/A.swift", "internal import struct Foundation.Date", 1),
        ("Sources/SettleCore/A.swift", "// import Foundation\nimport SettlePlatform", 0),
        ("Sources/SettleDatabase/Storage/A.swift", "public import SettleCore\n@testable import Settle", 1),
        ("Sources/SettleDatabase/Storage/A.swift", "import Glibc", 1),
        ("Sources/Settle/Settle.swift", "@_exported public import SettleDatabase", 0),
        ("Sources/SettleTool/A.swift", "import Settle", 1),
        ("Sources/SettleServer/A.swift", "internal import SettlePostgres", 1),
        ("Sources/SettleCommands/A.swift", "internal import CPostgres", 1),
        ("Sources/Unknown/A.swift", "", 1),
        ("Sources/A.swift", "", 1),
    ])
    func `a forbidden import is found`(path: String, text: String, count: Int) {
        #expect(importComplaints(in: SourceFile(path: path, text: text)).count == count)
    }
}
