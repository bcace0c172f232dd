import Testing

/// Reports a file that declares types, but neither declares nor extends the one of its name.
func mainTypeComplaints(in file: SourceFile) -> [Complaint] {
    let expected = file.baseName.split(separator: "+").first.map(String.init) ?? file.baseName
    let types = declarations(in: file.code).filter { declaration in
        declaration.scopes.isEmpty && !declaration.isPrivate
            && ["struct", "class", "enum", "actor", "protocol", "extension"].contains(declaration.keyword)
    }
    guard let first = types.first(where: { $0.keyword != "extension" }), types.allSatisfy({ $0.name != expected })
    else { return [] }
    return [file.complaint(first.line, "the file declares \(first.name) and not \(expected): rename one of the two")]
}

struct MainTypeTests {
    @Test func `every file declares or extends the type of its name`() {
        expectNone(Repository.shared.sources.flatMap(mainTypeComplaints))
    }

    @Test(arguments: [
        ("A.swift", "public struct A {}", 0),
        ("A.swift", "struct A { enum B {} }\nprivate struct C {}\nextension D {}", 0),
        ("A+Codable.swift", "extension A: Codable {}", 0),
        ("A+B.swift", "struct A {}", 0),
        ("A+B.swift", "struct B {}\nextension A { var b: B { B() } }", 0),
        ("A.swift", "func a() {}\n// struct B {}", 0),
        ("A.swift", "#if os(Linux)\nstruct A {}\n#else\nstruct A {}\n#endif", 0),
        ("A.swift", "struct A {}\nstruct B {}", 0),
        ("A.swift", "struct B {}", 1),
        ("A+B.swift", "struct B {}", 1),
        ("A.swift", "protocol B {}\nfinal class C {}", 1),
    ])
    func `a type in a file of another name is found`(name: String, text: String, count: Int) {
        #expect(mainTypeComplaints(in: SourceFile(path: "Sources/T/\(name)", text: text)).count == count)
    }
}
