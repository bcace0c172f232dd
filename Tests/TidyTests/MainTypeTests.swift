import Testing

/// The maximum length of a type in the file of another one.
private let longestCompanion = 40

/// Reports types of a file that are neither the one of its name nor a short companion of that one.
func mainTypeComplaints(in file: SourceFile) -> [Complaint] {
    let expected = file.baseName.split(separator: "+").first.map(String.init) ?? file.baseName
    let types = declarations(in: file.code).filter { declaration in
        declaration.scopes.isEmpty && !declaration.isPrivate
            && ["struct", "class", "enum", "actor", "protocol"].contains(declaration.keyword)
    }
    let hasMainType = types.contains { $0.name == expected }
    return types.compactMap { type in
        if type.name == expected { return nil }
        guard hasMainType else {
            return file.complaint(type.line, "the file declares \(type.name): rename one of the two")
        }
        guard type.lastLine - type.line >= longestCompanion else { return nil }
        return file.complaint(
            type.line, "\(type.name) is a second type of over \(longestCompanion) lines: give it a file of its own")
    }
}

struct MainTypeTests {
    @Test func `every file has one main type and its name, and only short companions`() {
        expectNone(Repository.shared.sources.flatMap(mainTypeComplaints))
    }

    @Test(arguments: [
        ("A.swift", "public struct A {}", 0),
        ("A.swift", "struct A { enum B {} }\nprivate struct C {}\nextension D {}", 0),
        ("A+Codable.swift", "extension A: Codable {}", 0),
        ("A+B.swift", "struct A {}", 0),
        ("A.swift", "func a() {}\n// struct B {}", 0),
        ("A.swift", "#if os(Linux)\nstruct A {}\n#else\nstruct A {}\n#endif", 0),
        ("A.swift", "struct A {}\nstruct B {}", 0),
        ("A.swift", "struct A {}\nstruct B {" + String(repeating: "\n", count: 39) + "}", 0),
        ("A.swift", "struct A {}\nstruct B {" + String(repeating: "\n", count: 40) + "}", 1),
        ("A.swift", "struct B {}", 1),
        ("A+B.swift", "struct B {}", 1),
        ("A.swift", "protocol B {}\nfinal class C {}", 2),
    ])
    func `a type in a file of another name is found`(name: String, text: String, count: Int) {
        #expect(mainTypeComplaints(in: SourceFile(path: "Sources/T/\(name)", text: text)).count == count)
    }
}
