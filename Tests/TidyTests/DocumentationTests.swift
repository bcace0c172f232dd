import Testing

/// Reports public declarations without a documentation comment.
func documentationComplaints(in file: SourceFile) -> [Complaint] {
    declarations(in: file.code).compactMap { declaration in
        guard declaration.isPublic, !["import", "extension"].contains(declaration.keyword),
            !(declaration.startsLine && isDocumented(declaration.line, in: file))
        else { return nil }
        let name = declaration.name.isEmpty ? "" : " \(declaration.name)"
        return file.complaint(declaration.line, "document `\(declaration.keyword)\(name)` in a `///` line right above")
    }
}

/// Searches upwards from a declaration: attributes and plain comments may stand between it and its documentation.
private func isDocumented(_ line: Int, in file: SourceFile) -> Bool {
    var unopened = 0
    for index in stride(from: line - 2, through: 0, by: -1) {
        let text = file.lines[index].drop(while: \.isWhitespace)
        let code = file.code[index]
        unopened += code.count { $0 == ")" } - code.count { $0 == "(" }
        if text.hasPrefix("///") { return true }
        let mayStandBetween = text.hasPrefix("@") || text.hasPrefix("//") || unopened > 0
        if !mayStandBetween { return false }
    }
    return false
}

struct DocumentationTests {
    @Test func `every public declaration is documented`() {
        expectNone(Repository.shared.sources.flatMap(documentationComplaints))
    }

    @Test(arguments: [
        "/// A.\npublic struct A {}",
        "/// A.\n@frozen\n@available(\n    macOS 15, *\n)\npublic struct A {}",
        "/// A.\n// swift-format-ignore\npublic struct A {}",
        "struct A { var b = 1 }",
        "@_exported public import A",
        "/// A.\npublic enum A {\n/// B.\ncase b\nfunc f() { switch self {\ncase b: 1\n} } }",
        "public extension A {\n/// B.\nfunc b() {}\nprivate func c() {}\n}",
        "enum A { case a }",
        "let text = \"public struct A\"",
    ])
    func `a documented or hidden declaration passes`(text: String) {
        expectNone(documentationComplaints(in: SourceFile(path: "Sources/T/A.swift", text: text)))
    }

    @Test(arguments: [
        "public struct A {}",
        "// A.\npublic struct A {}",
        "/// A.\n\npublic struct A {}",
        "struct A {\n    @inlinable public func a() {}\n}",
        "open class A {}",
        "/// A.\npublic enum A {\ncase b\n}",
        "/// A.\npublic enum A { case b }",
        "/// A.\npublic protocol A {\nvar b: Int { get }\n}",
        "public extension A {\nfunc b() {}\n}",
        "extension A: Equatable {\npublic static func == (a: A, b: A) -> Bool { true }\n}",
        "struct A {\npublic private(set) var a = 1\n}",
        "/// A.\npublic struct A {\npublic init() {}\n}",
    ])
    func `an undocumented public declaration is found`(text: String) {
        #expect(documentationComplaints(in: SourceFile(path: "Sources/T/A.swift", text: text)).count == 1)
    }
}
