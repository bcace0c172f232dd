internal import SettlePlatform

extension Database {
    /// The object of a type that lives as long as the database is open, made when it is first asked for: what layers above
    /// keep for each database, such as its replications.
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

    /// How many indexes may have their files open, as ``DatabaseOptions/openIndexes`` says.
    package var openIndexes: Int { options.openIndexes }

    /// Tells what an app should know though nothing failed, as ``DatabaseOptions/warn`` says.
    package func warn(_ message: String) { options.warn(message) }
}
