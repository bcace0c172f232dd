internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

/// The name of a replication, under which both sides keep its log.
///
/// It is a function of what the replication means: the databases at its ends and which documents take part. How a URL or
/// a selector is spelled does not matter, nor does the password, nor whether it is continuous (SEMANTICS 134); so a
/// replication that is set up again goes on where it was. The code of a filter function does matter: another one has to be asked
/// about all documents.
struct ReplicationID: Hashable, Sendable, CustomStringConvertible {
    /// The version of the function; another one gives other names.
    static let version = 1

    /// 32 hexadecimal digits.
    let description: String

    /// Makes the name of a replication.
    ///
    /// - Parameters:
    ///   - source: The identity of the source.
    ///   - target: The identity of the target.
    ///   - filter: Which documents take part.
    ///   - filterCode: The code of the filter function at the source, where there is one and it is known.
    ///   - branching: Whether edits become branches at the target.
    ///   - since: The position to begin after.
    init(
        source: String, target: String, filter: ReplicationFilter, filterCode: String? = nil, branching: Branching,
        since: PeerSequence? = nil
    ) {
        var meaning: JSONObject = [
            "version": .number(JSONNumber(Self.version)), "source": .string(source), "target": .string(target),
            "filter": Self.meaning(of: filter), "branching": .bool(branching == .allowed),
        ]
        meaning["since"] = since?.json
        meaning["filter_code"] = filterCode.map(JSON.string)
        let hash = SHA256()
        JSON.object(meaning).utf8.withUnsafeBytes { hash.update($0) }
        description = Hexadecimal.encode(hash.finish().prefix(16))
    }

    /// The log's document.
    var logID: DocumentID { DocumentID(unchecked: "_local/\(description)") }

    /// The document in which a local database keeps what could not be replicated.
    var ledgerID: DocumentID { DocumentID(unchecked: "_local/settle-ledger-\(description)") }

    /// What a filter asks for, in one form whatever its spelling.
    static func meaning(of filter: ReplicationFilter) -> JSON {
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
        case .channels(let channels): ["channels": .array(Set(channels).sorted().map(JSON.string))]
        }
    }

    /// The same JSON with all members in the order of their names.
    private static func canonical(_ json: JSON) -> JSON {
        switch json {
        case .object(let members):
            .object(JSONObject(members.sorted { $0.name < $1.name }.map { ($0.name, canonical($0.value)) }))
        case .array(let elements): .array(elements.map(canonical))
        default: json
        }
    }
}
