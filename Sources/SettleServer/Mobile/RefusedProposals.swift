internal import SettleCore
internal import SettlePlatform

/// The documents whose edits were refused with 409, by the devices that proposed them.
///
/// A device that is refused waits for the server's revision, which it is offered after its checkpoint. It never comes if the
/// checkpoint has passed it: the device had an error when it stored it, or could not look up its own record. Then all later edits of
/// the device would be refused, too. So such documents are offered again.
///
/// They are kept in memory: after a restart the next edit of the document is refused first.
final class RefusedProposals: Sendable {
    /// A device in one collection.
    struct Device: Hashable {
        let account: String
        let database: String
        /// The name of its checkpoint.
        let client: String
    }

    /// The maximum number of documents of all devices.
    private static let most = 10_000

    private struct State {
        var documents: [Device: Set<DocumentID>] = [:]
        var count = 0
    }

    private let state = Guarded(State())

    /// Records that an edit was refused. If there are too many, those of another device are forgotten.
    func add(_ id: DocumentID, of device: Device) {
        state.withLock { state in
            guard state.documents[device, default: []].insert(id).inserted else { return }
            state.count += 1
            while state.count > Self.most, let first = state.documents.keys.first {
                state.count -= state.documents.removeValue(forKey: first)?.count ?? 0
            }
        }
    }

    /// Removes and returns the documents of a device.
    func take(of device: Device) -> [DocumentID] {
        state.withLock { state in
            guard let documents = state.documents.removeValue(forKey: device) else { return [] }
            state.count -= documents.count
            return documents.sorted()
        }
    }
}
