internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettlePlatform

/// The id of a replication, under which both sides keep its log.
///
/// It depends on what the replication means: its source, its target and its filter. The spelling of a URL or selector,
/// the password, and whether it is continuous don't matter (SEMANTICS 134), so a replication that is configured again
/// continues where it stopped. The code of a filter function does matter: a changed function has to see all documents.
struct ReplicationID: Hashable, Sendable, CustomStringConvertible {
    /// The version of the function; another version gives other ids.
    static let version = 1

    /// 32 hexadecimal digits.
    let description: String

    /// Computes the id of a replication.
    ///
    /// - Parameters:
    ///   - source: The identity of the source.
    ///   - target: The identity of the target.
    ///   - filter: Which documents take part.
    ///   - filterCode: The code of the filter function at the source, if there is one and it is readable.
    ///   - branching: Whether edits become branches at the target.
    ///   - replicatesOnlyWinners: Whether losing leaves stay at the source.
    ///   - since: The position to begin after.
    init(
        source: String, target: String, filter: ReplicationFilter, filterCode: String? = nil, branching: Branching,
        replicatesOnlyWinners: Bool = false, since: PeerSequence? = nil
    ) {
        var meaning: JSONObject = [
            "version": .number(JSONNumber(Self.version)), "source": .string(source), "target": .string(target),
            "filter": Self.meaning(of: filter), "branching": .bool(branching == .allowed),
        ]
        if replicatesOnlyWinners { meaning["winners"] = true }
        meaning["since"] = since?.json
        meaning["filter_code"] = filterCode.map(JSONValue.string)
        let hash = SHA256()
        JSONValue.object(meaning).utf8.withUnsafeBytes { hash.update($0) }
        description = Hexadecimal.encode(hash.finish().prefix(16))
    }

    /// The log's document.
    var logID: DocumentID { DocumentID(unchecked: "_local/\(description)") }

    /// The local document that holds a database's ``ReplicationLedger``.
    var ledgerID: DocumentID { DocumentID(unchecked: "_local/settle-ledger-\(description)") }

    /// A filter in one canonical form, whatever its spelling.
    static func meaning(of filter: ReplicationFilter) -> JSONValue {
        switch filter {
        case .all: ["all": true]
        case .documents(let ids): ["documents": .array(Set(ids).sorted().map { .string($0.string) })]
        case .selector(let selector): ["selector": canonical(selector.json)]
        case .named(let name, let parameters):
            [
                "named": .string(name),
                "parameters": .object(
                    JSONObject(parameters.sorted { $0.key < $1.key }.map { ($0.key, canonical($0.value)) })),
            ]
        case .channels(let channels): ["channels": .array(Set(channels).sorted().map(JSONValue.string))]
        }
    }

    /// The same JSON with all members sorted by name.
    private static func canonical(_ json: JSONValue) -> JSONValue {
        switch json {
        case .object(let members):
            .object(JSONObject(members.sorted { $0.name < $1.name }.map { ($0.name, canonical($0.value)) }))
        case .array(let elements): .array(elements.map(canonical))
        default: json
        }
    }
}
