internal import Settle
import SettleCore
import SettleDatabase

/// The user's decision about a conflict: a policy for this process, and the request that means the same at a Settle
/// server.
struct SettlementOrder {
    /// The policy that decides in this process.
    let policy: ConflictPolicy
    /// Whether the result may have content that no leaf has.
    let isInvented: Bool
    /// The member of the request that says how.
    private let way: (name: String, value: JSONValue)
    /// Whether a person has decided about the leaves, which the request names then.
    private let isByPerson: Bool

    /// Settles by a policy of the command line.
    init(_ policy: ConflictPolicy, _ description: JSONValue) {
        self.policy = policy
        (way, isInvented, isByPerson) = (("policy", description), false, false)
    }

    private init(byPerson name: String, _ value: JSONValue, isInvented: Bool = false, _ resolution: Resolution) {
        var policy = ConflictPolicy.custom(name, deletions: true) { _ in resolution }
        // A person has decided about all the leaves, racing answers among them.
        policy.endsRaces = false
        self.policy = policy
        (way, self.isInvented, isByPerson) = ((isInvented ? "doc" : name, value), isInvented, true)
    }

    /// Keeps a leaf.
    static func keep(_ revision: RevisionID) -> SettlementOrder {
        SettlementOrder(byPerson: "keep", .string(revision.description), .keep(revision))
    }

    /// Leaves the conflict.
    static var leave: SettlementOrder { SettlementOrder(.keepAll, .string(ConflictPolicy.keepAll.name)) }

    /// Deletes the document.
    static var delete: SettlementOrder { SettlementOrder(byPerson: "delete", true, .delete) }

    /// Writes a document; its attachments are those of leaves.
    static func edit(_ body: DocumentBody, _ attachments: [DocumentAttachment]) -> SettlementOrder {
        var document = body.json
        if !attachments.isEmpty {
            document[WireAttachment.listName] = WireAttachment.json(attachments.map { $0.wire() })
        }
        return SettlementOrder(
            byPerson: "edit", document, isInvented: true, .merged(body, attachments: attachments))
    }

    /// The request to a Settle server, about a conflict as it was seen.
    func request(about conflict: Conflict?) -> JSONValue {
        var members: JSONObject = [way.name: way.value]
        if isByPerson {
            members["leaves"] = .array(conflict?.revisions.map { .string($0.description) } ?? [])
        }
        return .object(members)
    }
}
