/// The databases that store collections of another database.
package enum CollectionDatabase {
    /// The name of the database that stores a collection of another database: `shop+inventory+hotels` for
    /// `inventory.hotels` of `shop`, and `shop` for the default collection. A capital letter is written as `$` and
    /// its small letter, and `%` as `()`.
    ///
    /// - Returns: `nil` for an invalid name of a collection.
    package static func name(of collection: String, in database: String) -> String? {
        let parts = collection.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (scope, name) = parts.count == 2 ? (parts[0], parts[1]) : ("_default", parts[0])
        if scope == "_default", name == "_default" { return database }
        let words = [scope, name].map { word in
            word.unicodeScalars.map { letter in
                switch letter {
                case "A"..."Z": "$" + String(letter).lowercased()
                case "%": "()"
                default: String(letter)
                }
            }.joined()
        }
        let isName = [scope, name].allSatisfy { word in
            !word.isEmpty && word.utf8.count <= 251
                && word.unicodeScalars.allSatisfy { letter in
                    switch letter {
                    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "%": true
                    default: false
                    }
                }
        }
        return isName ? "\(database)+\(words[0])+\(words[1])" : nil
    }
}
