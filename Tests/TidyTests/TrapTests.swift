import Testing

private let traps = ["try!", "as!", "fatalError(", "preconditionFailure("]

/// Reports code that stops the process where an error belongs.
func trapComplaints(in file: SourceFile) -> [Complaint] {
    file.code.enumerated().flatMap { number, line in
        let found = traps.filter(line.contains) + (unwrapsByForce(line) ? ["a forced unwrap"] : [])
        return found.map { file.complaint(number + 1, "\($0) crashes on bad input: throw an error or handle nil") }
    }
}

/// Whether `!` follows a name, a call, a subscript or an optional chain, and is not part of an operator.
private func unwrapsByForce(_ line: String) -> Bool {
    let characters = Array(line)
    for (index, character) in characters.enumerated() where character == "!" && index > 0 {
        let before = characters[index - 1]
        let next = index + 1 < characters.count ? characters[index + 1] : " "
        let follows = before.isLetter || before.isNumber || "_)]}".contains(before)
        let word = String(characters[..<index].reversed().prefix { $0.isLetter }.reversed())
        if follows, next != "=", word != "try", word != "as" { return true }
    }
    return false
}

struct TrapTests {
    @Test func `bad input is an error and never a crash`() {
        expectNone(Repository.shared.sources.flatMap(trapComplaints))
    }

    @Test(arguments: [
        "let a = try! b()", "let a = b as! C", "fatalError(\"no\")", "default: preconditionFailure()",
        "let a = b!", "b()!.c", "b[0]!", "\"\\(b!)\"", "var a: Int!",
    ])
    func `a trap is found`(line: String) {
        #expect(trapComplaints(in: SourceFile(path: "Sources/T/A.swift", text: line)).count == 1)
    }

    @Test(arguments: ["a != b", "a!=b", "if !a {", "// b!", "\"try!\"", "!(a)", "try? b()", "b as? C", "f(!a)"])
    func `harmless marks pass`(line: String) {
        #expect(trapComplaints(in: SourceFile(path: "Sources/T/A.swift", text: line)).isEmpty)
    }
}
