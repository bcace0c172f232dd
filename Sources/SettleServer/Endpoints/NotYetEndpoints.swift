/// What CouchDB has and this version has not.
enum NotYetEndpoints {
    /// An answer that says so.
    static func notYet(_ what: String) -> Endpoint {
        { context in
            if context.parameters["db"] != nil { _ = try context.database() }
            throw HTTPError.notImplemented("\(what) is not implemented yet")
        }
    }
}
