internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// The configuration of the server without secrets, for its administrators.
///
/// One switch can be changed while the server runs and, if ``SecurityOptions/allowsLiveSettings`` is on, the settings of
/// ``LiveSetting/all``. Their changes are stored; that of the switch is lost when the server stops.
enum ConfigurationEndpoints {
    /// `GET /_node/{node}/_config`
    static let all: Endpoint = .work { context in
        .json(.object(JSONObject(try settings(context).sections.map { ($0.name, object($0.values)) })))
    }

    /// `GET /_node/{node}/_config/{section}`: a missing section is an empty object, as in CouchDB.
    static let section: Endpoint = .work { context in .json(object(try values(context))) }

    /// `GET /_node/{node}/_config/{section}/{key}`
    static let read: Endpoint = .work { context in
        guard let found = try values(context).first(where: { $0.name == context.parameter("key") }) else {
            throw HTTPError.notFound("unknown_config_value")
        }
        return .json(.string(found.value))
    }

    /// `PUT /_node/{node}/_config/{section}/{key}`: the answer is the value it had.
    ///
    /// Where settings can be changed, a fixed setting may be set to the value it already has. Tools that set up a
    /// server rely on that.
    static let put: Endpoint = .work(ServerState.change) { change, context in
        let text = try context.json().string
        if let text, try isKept(context, text) { return .json(.string(text)) }
        let setting = try changeable(context)
        guard let text else { throw HTTPError.badRequest("the value must be text in quotes") }
        return try changed(setting, context, change(setting, text))
    }

    /// `DELETE /_node/{node}/_config/{section}/{key}`: resets the setting to the value of the server's options.
    static let delete: Endpoint = .work(ServerState.change) { change, context in
        let setting = try changeable(context)
        return try changed(setting, context, change(setting, nil))
    }

    private static func changed(_ setting: LiveSetting, _ context: RequestContext, _ old: String) -> HTTPResponse {
        changed("\(setting.section)/\(setting.key)", context, old)
    }

    /// Logs a change, and answers it with the old value.
    static func changed(_ name: String, _ context: RequestContext, _ old: String) -> HTTPResponse {
        context.options.log?.notice("setting_changed", ["setting": name, "user": context.user.name ?? ""])
        return .json(.string(old))
    }

    /// Checks that a path names this server, the only node.
    static func checkNode(_ context: RequestContext) throws {
        guard isHere(context) else { throw HTTPError.notFound("no such node: \(context.parameter("node"))") }
    }

    private static func isHere(_ context: RequestContext) -> Bool {
        ["_local", NodeEndpoints.name].contains(context.parameter("node"))
    }

    private static func settings(_ context: RequestContext) throws -> VisibleSettings {
        try checkNode(context)
        return VisibleSettings(context.options, context.live, administrators: context.administrators)
    }

    private static func values(_ context: RequestContext) throws -> [(name: String, value: String)] {
        try settings(context).sections.first { $0.name == context.parameter("section") }?.values ?? []
    }

    private static func object(_ values: [(name: String, value: String)]) -> JSONValue {
        .object(JSONObject(values.map { ($0.name, .string($0.value)) }))
    }

    /// Whether `text` is the value that a fixed setting already has.
    private static func isKept(_ context: RequestContext, _ text: String) throws -> Bool {
        let (section, key) = (context.parameter("section"), context.parameter("key"))
        guard isHere(context), context.options.security.allowsLiveSettings, LiveSetting.find(section, key) == nil else {
            return false
        }
        return try values(context).first { $0.name == key }?.value == text
    }

    private static func changeable(_ context: RequestContext) throws -> LiveSetting {
        let (section, key) = (context.parameter("section"), context.parameter("key"))
        guard isHere(context), let setting = LiveSetting.find(section, key) else {
            throw HTTPError.forbidden("This can't be configured while the server runs.")
        }
        if !setting.isSwitch { try checkLive(context) }
        return setting
    }

    /// Checks that the server's configuration lets administrators change it over HTTP.
    ///
    /// - Throws: ``HTTPError`` with status 403, which names the option.
    static func checkLive(_ context: RequestContext) throws {
        guard isHere(context), context.options.security.allowsLiveSettings else {
            throw HTTPError.forbidden(
                "This can't be configured while the server runs, unless its configuration sets `live_settings`.")
        }
    }
}
