import Testing

/// The protocols that every storage engine has, and how many requirements they may have together.
private let core = ["StorageEngine", "StorageReader", "StorageWriter"]
private let most = 20

/// The properties and functions that the body of a protocol requires.
func requirements(of name: String, in file: SourceFile) -> [String] {
    let heads = ["public protocol \(name):", "public protocol \(name) {"]
    guard let start = file.code.firstIndex(where: { line in heads.contains { line.hasPrefix($0) } }) else { return [] }
    let body = file.code[(start + 1)...].prefix { !$0.hasPrefix("}") }
    return body.filter { $0.hasPrefix("    func ") || $0.hasPrefix("    var ") || $0.hasPrefix("    static ") }
}

struct StorageRequirementTests {
    @Test func `a storage engine has few requirements`() {
        let files = Repository.shared.sources.filter { $0.target == "SettleDatabase" }
        let found = core.map { name in files.flatMap { requirements(of: name, in: $0) } }
        print("Requirements of a storage engine: \(zip(core, found.map(\.count)).map { "\($0) \($1)" })")
        #expect(found.allSatisfy { !$0.isEmpty })
        #expect(found.joined().count <= most)
    }

    @Test func `a requirement is a property or function of the body`() {
        let file = SourceFile(
            path: "A.swift",
            text: """
                public protocol A: B {
                    /// func none
                    var a: Int { get }

                    func b(
                        c: Int
                    ) throws
                }

                extension A {
                    func d() {}
                }
                """)
        #expect(requirements(of: "A", in: file).count == 2)
        #expect(requirements(of: "C", in: file) == [])
    }
}
