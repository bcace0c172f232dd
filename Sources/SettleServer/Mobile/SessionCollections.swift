internal import SettleMobile

/// The collections of a connection by their numbers. Each collection is a database.
///
/// The first message decides whether messages name their collection. Couchbase Lite opens connections of both
/// kinds, and answers 400 if they are mixed.
///
///     getCollections ["_default", "inventory.hotels"]      0: shop      1: shop+inventory+hotels
///     any other message                                    the database of the address alone, without a number
struct SessionCollections {
    private enum Use {
        case undecided
        case unnamed
        case named
    }

    /// The databases by the numbers of their collections; `nil` for a collection without a database.
    private(set) var databases: [String?]
    private var use = Use.undecided

    init(database: String) { databases = [database] }

    /// Checks a message; the first one decides the kind.
    ///
    /// - Returns: The number of the message's collection.
    /// - Throws: ``BLIPError`` with status 400 for a message of the other kind, and 404 for an unknown collection.
    mutating func check(_ message: BLIPMessage) throws -> Int {
        switch (message.profile, use) {
        case ("PING", _): return 0
        case ("getCollections", .undecided):
            use = .named
            return 0
        case ("getCollections", _): throw BLIPError.http(400, "getCollections must be the first message")
        default:
            if case .undecided = use { use = .unnamed }
            let number = message.properties["collection"]
            guard (number == nil) == properties(of: 0).isEmpty else {
                throw BLIPError.http(400, "inappropriate use of the collection property")
            }
            let index = number.flatMap { Int($0) } ?? (number == nil ? 0 : -1)
            guard databases.indices.contains(index), databases[index] != nil else {
                throw BLIPError.http(404, "there is no collection of this number")
            }
            return index
        }
    }

    /// Sets the databases that the client has named.
    mutating func name(_ databases: [String?]) { self.databases = databases }

    /// The properties of the server's requests about a collection.
    func properties(of number: Int) -> [String: String] {
        if case .named = use { ["collection": "\(number)"] } else { [:] }
    }
}
