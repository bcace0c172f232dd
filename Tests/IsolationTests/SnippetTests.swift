import Testing

/// The code of the articles, compiled in modules that are isolated to the main actor, runs to its end.
@Suite(.timeLimit(.minutes(2)))
struct SnippetTests {
    @Test(
        arguments: [
            ("GettingStarted", "Milk 2\n"), ("EverydayTasks", "[\"Buy milk\"]\n"), ("SchemaChanges", "true\n"),
            ("Queries", "Ada 36\n"),
        ])
    func `an article's code runs where the main actor is the default`(name: String, part: String) throws {
        let (status, output) = try BuiltTool("Isolated" + name).run([])
        #expect(status == 0)
        #expect(output.contains(part), "\(output)")
    }
}
