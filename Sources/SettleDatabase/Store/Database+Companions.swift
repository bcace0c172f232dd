internal import SettlePlatform

extension Database {
    /// An object that higher layers attach to the database, such as its replications. It is created at the first call and exists
    /// while the database is open.
    package func companion<Companion: AnyObject & Sendable>(
        _ type: Companion.Type, _ make: () -> Companion
    ) -> Companion {
        companions.withLock { companions in
            if let companion = companions[ObjectIdentifier(type)] as? Companion { return companion }
            let companion = make()
            companions[ObjectIdentifier(type)] = companion
            return companion
        }
    }

    /// The object of a type that was made by ``companion(_:_:)``, if it was.
    package func known<Companion: AnyObject & Sendable>(_ type: Companion.Type) -> Companion? {
        companions.withLock { $0[ObjectIdentifier(type)] as? Companion }
    }

    /// How many indexes may have their files open, as ``DatabaseOptions/openIndexes`` says.
    package var openIndexes: Int { options.openIndexes }

    /// The folder for indexes if the database has none of its own, as ``DatabaseOptions/indexFolder`` says.
    package var indexFolder: String? { options.indexFolder }

    /// The log of the database; see ``DatabaseOptions/log``.
    package var log: SettleLog { options.log }

    /// What entries of the log say of the database.
    package var logMetadata: [String: String] {
        files.map { ["database": $0.name] } ?? [:]
    }

    /// Reports a problem that is not fatal.
    package func warn(_ message: @autoclosure () -> String, in subsystem: SettleLog.Subsystem = .database) {
        log(.warning, subsystem, message(), logMetadata)
    }
}
