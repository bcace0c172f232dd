internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Who may use a database.
enum SecurityEndpoints {
    /// `GET /{db}/_security`
    static let read: Endpoint = .work { context in .json(try SecurityObject(of: context.database()).json) }

    /// `PUT /{db}/_security`
    static let put: Endpoint = .work { context in
        let database = try context.database()
        if context.parameter("db") == "_users", !context.live.isUsersSecurityEditable {
            throw HTTPError.forbidden("You can't edit the security object of the user database.")
        }
        try SecurityObject(context.json()).store(in: database)
        return .ok()
    }
}
