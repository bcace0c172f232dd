#if canImport(Testing)
public import Settle
public import Testing

/// Gives each test its own database, which is removed after the test.
///
///     @Suite(.database) struct ShoppingTests {
///         @Test func `a new item is not bought`() throws {
///             let saved = try Database.current.save(Document(body: ["name": "Milk"]))
///             #expect(saved["bought"] == nil)
///         }
///     }
///
/// The trait of a suite applies to all its tests, and each case of a parameterized test has its own database. Tests
/// that run at the same time don't share one.
public struct TemporaryDatabaseTrait: TestTrait, SuiteTrait, TestScoping {
    let kind: DatabaseKind
    let options: DatabaseOptions

    /// True: each test of a suite gets a database.
    public var isRecursive: Bool { true }

    /// Runs a test with its database.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let temporary = try TemporaryDatabase(kind, options: options)
        try await TemporaryDatabase.$ofTest.withValue(temporary) { try await function() }
        withExtendedLifetime(temporary) {}
    }
}

extension Trait where Self == TemporaryDatabaseTrait {
    /// Gives each test a database in memory; see ``TemporaryDatabaseTrait``.
    public static var database: Self { .database() }

    /// Gives each test a database; see ``TemporaryDatabaseTrait``.
    ///
    /// - Parameters:
    ///   - kind: The storage; in memory by default.
    ///   - options: How to open it.
    /// - Returns: The trait, for a test or a suite.
    public static func database(
        _ kind: DatabaseKind = .memory, options: DatabaseOptions = DatabaseOptions()
    ) -> Self {
        TemporaryDatabaseTrait(kind: kind, options: options)
    }
}

extension TemporaryDatabase {
    @TaskLocal fileprivate static var ofTest: TemporaryDatabase?

    /// The database of the running test, for tests that reopen it.
    ///
    /// - Throws: ``Settle/DatabaseError`` with code `notFound` outside of a test with the trait `.database`.
    public static var current: TemporaryDatabase {
        get throws {
            if let ofTest { return ofTest }
            throw DatabaseError(
                .notFound, "this test has no database: give it or its suite the trait .database, and stay in its task")
        }
    }
}

extension Database {
    /// The database of the running test.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` outside of a test with the trait `.database`.
    public static var current: Database { get throws { try TemporaryDatabase.current.database } }
}
#endif
