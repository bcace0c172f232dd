internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// What a server stores about itself: its administrators, the secret of its cookies, its id.
///
/// The store keeps it: a folder as a file beside the databases that only its owner may read. A ``Server`` that is created and not
/// started has settings in memory.
struct ServerSettings: Sendable {
    /// The hashes of the administrators' passwords, by name.
    var admins: [String: PasswordHash] = [:]
    /// The configuration changed over HTTP, by `section/key`.
    var configuration: [String: String] = [:]
    /// The secret that cookies are signed with.
    var secret = Hexadecimal.encode(SecureRandom.bytes(32))
    /// The server's id in the response of `GET /`.
    var uuid = SecureRandom.hexadecimal()

    init() {}

    /// Reads settings.
    ///
    /// - Throws: ``DatabaseError`` for invalid input, because a server must not replace settings it can't read.
    init(_ bytes: [UInt8]) throws {
        guard let members = try JSONValue(utf8: bytes).object, let secret = members["secret"]?.string,
            secret.utf8.count >= 32,
            let uuid = members["uuid"]?.string
        else { throw DatabaseError(.invalid, "the settings file lacks `secret` or `uuid`") }
        (self.secret, self.uuid) = (secret, uuid)
        for member in members["admins"]?.object ?? JSONObject() {
            guard let hash = member.value.string.flatMap(PasswordHash.init(line:)) else {
                throw DatabaseError(.invalid, "the settings file has no hash for the administrator \"\(member.name)\"")
            }
            admins[member.name] = hash
        }
        for member in members["configuration"]?.object ?? JSONObject() {
            configuration[member.name] = member.value.string
        }
    }

    /// The stored text.
    var bytes: [UInt8] {
        let lines = admins.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value.line)) }
        var members: JSONObject = [
            "admins": .object(JSONObject(lines)), "secret": .string(secret), "uuid": .string(uuid),
        ]
        let changes = configuration.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        if !changes.isEmpty { members["configuration"] = .object(JSONObject(changes)) }
        return JSONValue.object(members).utf8 + [UInt8(ascii: "\n")]
    }
}
