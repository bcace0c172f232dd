import Testing

@testable import SettlePostgres

/// What the closed list of statements must not contain, so that PostgreSQL's relatives can run it.
struct PostgresStatementTests {
    @Test func `every statement has a text of its own`() {
        let texts = PostgresStatement.all.map(\.text)
        #expect(texts.count > 90)
        #expect(!texts.contains(""))
        #expect(Set(texts).count == texts.count)
    }
}
