internal import SettleCore
internal import SettleMobile
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

    private struct State {
        var documents: [Device: Set<DocumentID>] = [:]
        /// The devices that have documents, in the order of their first one.
        var devices: [Device] = []
        var count = 0

        mutating func remove(_ device: Device) -> Set<DocumentID> {
            let removed = documents.removeValue(forKey: device) ?? []
            count -= removed.count
            devices.removeAll { $0 == device }
            return removed
        }
    }

    private let limit: Int
    private let state = Guarded(State())

    /// - Parameter limit: The maximum number of documents of all devices.
    init(limit: Int = 10_000) { self.limit = limit }

    /// Records that an edit was refused, unless Couchbase Lite can't store the document. If there are too many documents, those of
    /// the device that came first are forgotten. So a device with many of them can't keep out the others for long.
    func add(_ id: DocumentID, of device: Device) {
        guard MobileLimits.fault(in: id) == nil else { return }
        state.withLock { state in
            guard state.documents[device]?.contains(id) != true else { return }
            if state.count >= limit, let first = state.devices.first { _ = state.remove(first) }
            if state.documents[device] == nil { state.devices.append(device) }
            state.documents[device, default: []].insert(id)
            state.count += 1
        }
    }

    /// Removes and returns the first documents of a device.
    func take(_ most: Int, of device: Device) -> [DocumentID] {
        state.withLock { state in
            guard state.documents[device] != nil else { return [] }
            let documents = state.remove(device).sorted()
            let rest = documents.dropFirst(most)
            if !rest.isEmpty {
                state.documents[device] = Set(rest)
                state.devices.append(device)
                state.count += rest.count
            }
            return Array(documents.prefix(most))
        }
    }
}
