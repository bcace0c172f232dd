import Testing

@testable import SettlePostgres

/// What the closed list of statements must not contain, so that PostgreSQL's relatives can run it with few changes.
struct PostgresStatementTests {
    private static let texts = PostgresStatement.all.map(\.text)

    @Test func `every statement has a text of its own`() {
        #expect(Self.texts.count > 90)
        #expect(!Self.texts.contains(""))
        #expect(Set(Self.texts).count == Self.texts.count)
    }

    @Test(arguments: [
        "advisory", "xmin", "pg_snapshot", "ctid", "nextval", "currval", "serial", "identity", "references",
        "foreign key", "trigger", "plpgsql", "create function", "lo_", "exclude using", "deferrable", "pg_xact_status",
    ])
    func `constructs that relatives of PostgreSQL lack are avoided`(construct: String) {
        for text in Self.texts + PostgresSchema.first { #expect(!text.lowercased().contains(construct), "\(text)") }
    }

    @Test func `listening is one statement, and settings of storage are apart`() {
        #expect(Self.texts.count { $0.contains("LISTEN") } == 1)
        #expect(Self.texts.count { $0.contains("pg_notify") } == 1)
        for word in ["COMPRESSION", "STORAGE", "fillfactor", "autovacuum"] {
            #expect(!PostgresSchema.first.contains { $0.contains(word) })
            #expect(PostgresSchema.tuning.contains { $0.contains(word) })
        }
    }

    @Test func `every key of what a database holds begins with its number`() {
        let shared = ["settle.names", "settle.server", "settle.format"]
        for text in PostgresSchema.first where text.contains("PRIMARY KEY") || text.contains("UNIQUE") {
            guard !shared.contains(where: text.contains) else { continue }
            #expect(
                text.contains("PRIMARY KEY (database_id") || text.contains("(database_id,")
                    || text.contains("database_id bigint PRIMARY KEY"), "\(text)")
        }
        for text in Self.texts where text.contains("FOR UPDATE") {
            #expect(text.contains("database_id = $1"), "\(text)")
        }
    }

    @Test func `no statement changes a table twice`() {
        for text in Self.texts {
            for table in PostgresSchema.tables {
                let changes = ["INSERT INTO \(table)", "UPDATE \(table) ", "DELETE FROM \(table)"]
                let count = changes.reduce(0) { $0 + text.ranges(of: $1).count }
                #expect(count <= 1, "\(text)")
            }
        }
    }
}
