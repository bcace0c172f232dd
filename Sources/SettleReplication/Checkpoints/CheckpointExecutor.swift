internal import SettleCore

/// Does what a ``Checkpointer`` says: reads and writes the logs of a replication on both peers.
struct CheckpointExecutor: Sendable {
    let source: any PeerOperations
    let target: any PeerOperations

    /// Resumes, forgets or writes checkpoints.
    ///
    /// - Parameters:
    ///   - event: What to do: `resume`, `forget` or `write`.
    ///   - checkpointer: The rules, which take in what the peers answer.
    /// - Returns: What came of it.
    func run(_ event: Checkpointer.Event, _ checkpointer: inout Checkpointer) async -> Checkpointer.Outcome {
        var action = checkpointer.handle(event)
        let id = checkpointer.id.logID
        while true {
            switch action {
            case .read: action = checkpointer.handle(await read(id))
            case .save(let side, let log, let revision):
                action = checkpointer.handle(await save(id, log, revision, to: side))
            case .end(let outcome): return outcome
            }
        }
    }

    private func read(_ id: DocumentID) async -> Checkpointer.Event {
        async let first = Self.reading(id, of: source)
        async let second = Self.reading(id, of: target)
        switch await (first, second) {
        case (.success(let source), .success(let target)): return .read(source: source, target: target)
        case (.failure(let error), _), (_, .failure(let error)): return .failed(error)
        }
    }

    private static func reading(
        _ id: DocumentID, of peer: any PeerOperations
    ) async -> Result<Checkpointer.Reading, PeerError> {
        switch await PeerError.result({ try await peer.localDocument(id) }) {
        case .success(let document):
            let log = document.map { ReplicationLog($0.body) } ?? ReplicationLog()
            return .success(Checkpointer.Reading(log: .log(log), revision: document?.revision))
        case .failure(let error) where error.isForbidden: return .success(Checkpointer.Reading(log: .closed))
        case .failure(let error): return .failure(error)
        }
    }

    private func save(
        _ id: DocumentID, _ log: ReplicationLog, _ revision: String?, to side: Checkpointer.Side
    ) async -> Checkpointer.Event {
        let peer = side == .source ? source : target
        let saved = await PeerError.result {
            try await peer.saveLocalDocument(id, body: log.json, revision: revision)
        }
        switch saved {
        case .success(let revision): return .saved(side, revision: revision)
        case .failure(let error): return error.isForbidden ? .forbidden(side) : .failed(error)
        }
    }
}

extension PeerError {
    /// Whether the peer does not allow it.
    fileprivate var isForbidden: Bool { code == .forbidden || code == .unauthorized }
}
