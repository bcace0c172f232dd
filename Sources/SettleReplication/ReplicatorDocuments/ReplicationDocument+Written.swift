package import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Writing replication documents: the inverse of reading them.
extension ReplicationDocument {
    /// The Sync Gateway filter that takes channels as a parameter.
    static let byChannel = "sync_gateway/bychannel"

    /// The members that describe a filter; none for all documents.
    package static func members(of filter: ReplicationFilter) -> JSONObject {
        switch filter {
        case .all: [:]
        case .documents(let ids): ["doc_ids": .array(ids.map { .string(PercentCoding.encode($0.string)) })]
        case .selector(let selector): ["selector": selector.json]
        case .named(let name, let parameters):
            [
                "filter": .string(name),
                "query_params": .object(JSONObject(parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })),
            ]
        case .channels(let channels):
            ["filter": .string(byChannel), "query_params": ["channels": .string(channels.joined(separator: ","))]]
        }
    }

    /// A side that is reached at an address, with its credentials.
    ///
    /// - Parameters:
    ///   - address: The address; its user and password are ignored.
    ///   - credentials: None, basic authentication, or the keys of OAuth 1.
    ///   - collection: The collection there, of Couchbase Mobile's protocol; none unless given.
    /// - Returns: An address, or an object with `auth`.
    /// - Throws: ``PeerError`` with code `badRequest` for other credentials.
    package static func endpoint(
        _ address: PeerAddress, _ credentials: ReplicationCredentials, collection: String? = nil
    ) throws -> JSONValue {
        let text = JSONValue.string("\(address)")
        var members: JSONObject = ["url": text]
        members["collection"] = collection.map(JSONValue.string)
        switch credentials.kind {
        case .none: break
        case .basic(let user, let password):
            members["auth"] = ["basic": ["username": .string(user), "password": .string(password)]]
        case .oauth1(let keys): members["auth"] = ["oauth": keys.json]
        default:
            throw PeerError(
                .badRequest,
                "of credentials, only a user with a password sent each time, or keys of OAuth 1, can be kept")
        }
        return members.count == 1 ? text : .object(members)
    }
}

extension ReplicationFilter {
    /// The channels that the filter of Sync Gateway names; else this filter.
    var byChannels: ReplicationFilter {
        guard case .named(ReplicationDocument.byChannel, let parameters) = self else { return self }
        return .channels((parameters["channels"]?.string ?? "").split(separator: ",").map(String.init))
    }
}
