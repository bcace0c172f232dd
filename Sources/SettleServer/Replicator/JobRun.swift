internal import SettleReplication

/// One run of a job, over HTTP and with the credentials it was given, even where an address is this very server's: so it
/// may do what those may, and nothing else.
struct JobRun: Sendable {
    let document: ReplicationDocument
    let client: CurlHTTPClient

    init(_ job: ReplicationJob, _ policy: TargetPolicy) {
        document = job.document
        client = policy.client(isAdmin: job.isAdmin)
    }

    /// The replication's name.
    ///
    /// - Throws: ``PeerError``.
    static func id(_ document: ReplicationDocument, _ client: CurlHTTPClient) async throws -> String {
        try await configuration(document, client).replicationID()
    }

    /// Makes what does the work, after having seen that both databases are there and may be used: so that an error tells
    /// which of them is not.
    ///
    /// - Throws: ``PeerError``.
    func replicator() async throws -> Replicator {
        if document.createsTarget { try await create() }
        // The order is CouchDB's: with both missing, it is the source that is named.
        try await check(document.source)
        try await check(document.target)
        return Replicator(try Self.configuration(document, client))
    }

    private static func configuration(
        _ document: ReplicationDocument, _ client: CurlHTTPClient
    ) throws -> ReplicationConfiguration {
        document.configuration(source: try document.source.peer(client), target: try document.target.peer(client))
    }

    private func create() async throws {
        do { try await document.target.create(document.targetParameters, client) } catch let error as PeerError {
            throw Self.told(error, document.target)
        }
    }

    private func check(_ endpoint: ReplicationEndpoint) async throws {
        let peer = try endpoint.peer(client)
        do { _ = try await peer.connect() } catch let error as PeerError {
            // What may pass is tried again by the replicator.
            if !error.isTransient { throw Self.told(error, endpoint) }
        }
        await peer.close()
    }

    /// The error in CouchDB's words.
    private static func told(_ error: PeerError, _ endpoint: ReplicationEndpoint) -> PeerError {
        switch error.code {
        case .notFound: PeerError(.notFound, "could not open \(endpoint.shown)", status: 404, cause: error)
        case .unauthorized, .forbidden:
            PeerError(
                error.code, "unauthorized to access or create database \(endpoint.shown)", status: error.status ?? 401,
                cause: error)
        default: error
        }
    }
}
