internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// What a server keeps about itself: its administrators, the secret of its cookies, its name.
///
/// It is a file of its own beside the databases that only its owner may read. Whoever makes a ``Server`` and does not start
/// it has settings in memory.
struct ServerSettings: Sendable {
    /// What is kept of the administrators' passwords, by name.
    var admins: [String: PasswordHash] = [:]
    /// What was changed over HTTP, by `section/key`.
    var configuration: [String: String] = [:]
    /// The secret that cookies are signed with.
    var secret = Hexadecimal.encode(SecureRandom.bytes(32))
    /// What the root calls the server's own id.
    var uuid = SecureRandom.hexadecimal()

    init() {}

    /// Reads settings.
    ///
    /// - Throws: ``DatabaseError`` for invalid input: a server whose settings can't be read must not make others.
    init(_ bytes: [UInt8]) throws {
        guard let members = try JSON(utf8: bytes).object, let secret = members["secret"]?.string,
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

    /// The file's text.
    var bytes: [UInt8] {
        let lines = admins.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value.line)) }
        var members: JSONObject = [
            "admins": .object(JSONObject(lines)), "secret": .string(secret), "uuid": .string(uuid),
        ]
        let changes = configuration.sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) }
        if !changes.isEmpty { members["configuration"] = .object(JSONObject(changes)) }
        return JSON.object(members).utf8 + [UInt8(ascii: "\n")]
    }
}
