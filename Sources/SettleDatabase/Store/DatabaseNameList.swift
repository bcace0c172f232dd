/// The names of all databases of a store, for one server.
package protocol DatabaseNameList: Sendable {
    /// Calls a closure with the names of all databases, sorted by their bytes.
    ///
    /// - Throws: ``DatabaseError`` when the names can't be read, and what the closure throws.
    func read<Result: Sendable>(_ body: ([String]) throws -> Result) throws -> Result

    /// Returns the names that meet a condition, sorted by their bytes.
    ///
    /// - Throws: ``DatabaseError`` when the names can't be read.
    func names(where condition: (String) -> Bool) throws -> [String]

    /// Runs a closure by which the server creates or deletes a database, so that a list in memory learns of it.
    ///
    /// - Throws: What the closure throws.
    func change<Result>(_ name: String, _ body: () throws -> Result) throws -> Result
}

extension DatabaseNameList {
    /// Reads all names.
    package func names(where condition: (String) -> Bool) throws -> [String] {
        try read { names in names }.filter(condition)
    }

    /// Runs the closure: a list that is read anew each time has nothing to learn.
    package func change<Result>(_ name: String, _ body: () throws -> Result) throws -> Result { try body() }
}
