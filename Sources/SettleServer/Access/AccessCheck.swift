/// The one place where it is decided who may do what.
///
/// For now everybody may do everything: authentication, and the security objects of databases, come with a later version
/// and have their place here. Until then a server should listen on the loopback address only.
struct AccessCheck: Sendable {
    /// Finds out who sends a request.
    ///
    /// - Throws: ``HTTPError`` with status 401 for credentials that are wrong.
    func user(of request: HTTPRequest) throws -> User { User.anonymous }

    /// Lets a request pass.
    ///
    /// - Throws: ``HTTPError`` with status 401 or 403.
    func check(_ access: Access, _ user: User, database: String?) throws {}
}
