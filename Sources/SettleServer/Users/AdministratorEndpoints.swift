internal import SettleCore

/// The server's administrators over HTTP: CouchDB's section `admins` of the configuration.
///
/// They can be changed only where ``SecurityOptions/allowsLiveSettings`` is on. Administrators whose passwords were set
/// when the server was started can be changed only there, and the last administrator can't be removed. No answer has a
/// password's hash.
enum AdministratorEndpoints {
    /// `GET /_node/{node}/_config/admins/{name}`
    static let read: Endpoint = .work(\.administration) { administration, context in
        try ConfigurationEndpoints.checkNode(context)
        guard context.options.security.allowsLiveSettings,
            administration.hash(of: context.parameter("name")) != nil
        else { throw missing }
        return .json(.string(VisibleSettings.hidden))
    }

    /// `PUT /_node/{node}/_config/admins/{name}`: sets a password, or adds an administrator.
    ///
    /// The body is the password, or its hash in CouchDB's form, as JSON text. The answer hides the old value; it is empty
    /// for a new administrator.
    static let put: Endpoint = .work(\.administration) { administration, context in
        let name = try changeable(administration, context)
        guard let text = try context.json().string else {
            throw HTTPError.badRequest("the value must be text in quotes")
        }
        try Administration.check(name, password: Array(text.utf8))
        let isKnown = try administration.replace(name, by: hash(text, by: administration.hasher))
        return ConfigurationEndpoints.changed("admins/\(name)", context, isKnown ? VisibleSettings.hidden : "")
    }

    /// `DELETE /_node/{node}/_config/admins/{name}`
    static let delete: Endpoint = .work(\.administration) { administration, context in
        let name = try changeable(administration, context)
        switch try administration.remove(name) {
        case .removed: return ConfigurationEndpoints.changed("admins/\(name)", context, VisibleSettings.hidden)
        case .missing: throw missing
        case .last:
            throw HTTPError.forbidden("\"\(name)\" is the last administrator of the server; add another one first.")
        }
    }

    private static let missing = HTTPError.notFound("unknown_config_value")

    /// The name in the path, if this administrator may be changed.
    private static func changeable(_ administration: Administration, _ context: RequestContext) throws -> String {
        try ConfigurationEndpoints.checkLive(context)
        let name = context.parameter("name")
        guard !administration.isGiven(name) else {
            throw HTTPError.forbidden(
                "The password of \"\(name)\" is set when the server is started, by its options or the command line, and "
                    + "can be changed only there.")
        }
        return name
    }

    /// The hash of a new password, or the one that was sent in its place.
    private static func hash(_ text: String, by hasher: PasswordHasher) throws -> PasswordHash {
        guard text != VisibleSettings.hidden else {
            throw HTTPError.badRequest("\(text) is shown in place of a password, and can't be one.")
        }
        guard text.hasPrefix("-pbkdf2") || text.hasPrefix("-hashed-") else { return try hasher.hash(Array(text.utf8)) }
        guard let hash = PasswordHash(line: text), hash.isComplete else {
            throw HTTPError.badRequest(
                "A value that begins with -pbkdf2 or -hashed- must be a whole hash: -pbkdf2:sha256-KEY,SALT,ITERATIONS")
        }
        return hash
    }
}
