import Testing

/// Complains about types of a file which are not the one its name promises.
func mainTypeComplaints(in file: SourceFile) -> [Complaint] {
    let expected = file.baseName.split(separator: "+").first.map(String.init) ?? file.baseName
    let types = declarations(in: file.code).filter { declaration in
        declaration.scopes.isEmpty && !declaration.isPrivate
            && ["struct", "class", "enum", "actor", "protocol"].contains(declaration.keyword)
    }
    return types.compactMap { type in
        guard type.name != expected else { return nil }
        let advice =
            types.contains { $0.name == expected }
            ? "\(type.name) is a second type: give it a file of its own, nest it, or make it private"
            : "the file declares \(type.name): rename one of the two"
        return file.complaint(type.line, advice)
    }
}

struct MainTypeTests {
    @Test func `every file has one main type and its name`() {
        expectNone(Repository.shared.sources.flatMap(mainTypeComplaints))
    }

    @Test(arguments: [
        ("A.swift", "public struct A {}", 0),
        ("A.swift", "struct A { enum B {} }\nprivate struct C {}\nextension D {}", 0),
        ("A+Codable.swift", "extension A: Codable {}", 0),
        ("A+B.swift", "struct A {}", 0),
        ("A.swift", "func a() {}\n// struct B {}", 0),
        ("A.swift", "#if os(Linux)\nstruct A {}\n#else\nstruct A {}\n#endif", 0),
        ("A.swift", "struct A {}\nstruct B {}", 1),
        ("A.swift", "struct B {}", 1),
        ("A+B.swift", "struct B {}", 1),
        ("A.swift", "protocol B {}\nfinal class C {}", 2),
    ])
    func `a type in a file of another name is found`(name: String, text: String, count: Int) {
        #expect(mainTypeComplaints(in: SourceFile(path: "Sources/T/\(name)", text: text)).count == count)
    }
}
