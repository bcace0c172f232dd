import Testing

struct DeclarationTests {
    @Test(arguments: [
        ("public struct A {", ["public"], "struct", "A"),
        ("    @inlinable public static func f() {", ["public", "static"], "func", "f"),
        ("@available(macOS 15, *) public private(set) var a: Int", ["public", "private"], "var", "a"),
        ("public class func f()", ["public", "class"], "func", "f"),
        ("nonisolated(unsafe) public var a = 1", ["nonisolated", "public"], "var", "a"),
        ("@_exported public import A", ["public"], "import", "A"),
    ])
    func `a declaration is its modifiers, keyword and name`(
        piece: String, modifiers: [String], keyword: String, name: String
    ) throws {
        let declaration = try #require(Declaration(piece))
        #expect(declaration.modifiers == modifiers)
        #expect(declaration.keyword == keyword)
        #expect(declaration.name == name)
    }

    @Test(arguments: ["return public", "f(case: 1)", "} else", "public", ".case", "x = class"])
    func `other code is not a declaration`(piece: String) {
        #expect(Declaration(piece) == nil)
    }

    @Test func `scopes follow the braces`() {
        let lines = [
            "public enum A:", "    B", "{", "case a; case b", "func f() { switch x {", "case c", "} } }", "let d",
        ]
        let found = declarations(in: lines)
        #expect(found.map(\.name) == ["A", "a", "b", "f", "c", "d"])
        #expect(found.map(\.isPublic) == [true, true, true, false, false, false])
    }
}
