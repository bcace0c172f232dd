internal import SettlePlatform

/// How a database is opened.
///
/// Options are taken when a database is opened first; opening it again in the same process shares the one that is
/// open, with its options.
public struct DatabaseOptions: Sendable {
    /// What an acknowledged write survives; ``Durability/normal`` unless set.
    public var durability: Durability = .normal
    /// The memory that writing may use for pages of the file, in bytes; 16 MiB unless set. Each reader may use a quarter of
    /// it besides, but at least 2 MiB unless this is less.
    public var cacheBytes = 16 * 1024 * 1024
    /// How many threads may read at the same time; 4 unless set.
    public var readers = 4
    /// How many indexes of views and queries have their files open at the same time; 16 unless set. Each of them has up to
    /// three descriptors for writing and two for each of up to four readers. The index that was used least recently is closed
    /// for another one, and opened again when it is asked.
    public var openIndexes = 16
    /// The largest body a document may have, in bytes; 8,000,000 unless set, as in CouchDB.
    public var maximumDocumentSize = 8_000_000
    /// Whether each save stamps the members it changes with the moment; see ``Database/setAttributeClocks(_:)``. The database
    /// remembers it, and `nil`, which it is unless set, leaves it as it is: off for a new one.
    public var attributeClocks: Bool?
    /// Whether local operations are kept in a ``Journal`` until a peer has acknowledged them. The database remembers it, and
    /// `nil`, which it is unless set, leaves it as it is: off for a new one. Switching it off forgets the journal.
    public var journal: Bool?
    /// Tells what time it is, in milliseconds since 1970, for what is dated; asks the system unless set.
    public var now: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
    /// Called with warnings that are not errors. Writes to standard error by default.
    public var warn: @Sendable (String) -> Void = { message in
        let line = Array("settle: \(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
    }

    /// Is called with the database each time it is opened, before anybody else has it; does nothing unless set.
    ///
    /// It is the place for what a database does not keep, such as validations (SEMANTICS 125): those of a ``Store`` that a server
    /// opens and closes as it needs have them at any time. It must open no database itself. When it throws, opening fails.
    public var whenOpened: @Sendable (Database) throws -> Void = { _ in }

    /// Makes options with the defaults.
    public init() {}
}
