/// Running what a replication document asks for over HTTP, with the credentials in it: so it may do what those may, even
/// where an address is this very server's.
extension ReplicationDocument {
    /// The id of the replication as a job: the replication's id, followed by `+continuous` and `+create_target`.
    ///
    /// - Throws: ``PeerError`` if an address can't be used.
    package func jobID(_ client: any HTTPTransport) async throws -> String {
        try await configuration(client).replicationID() + (isContinuous ? "+continuous" : "")
            + (createsTarget ? "+create_target" : "")
    }

    /// Makes the replicator, after a look at both databases, so that an error names the one that is missing or forbidden.
    ///
    /// - Throws: ``PeerError``, in CouchDB's words.
    func replicator(_ client: any HTTPTransport) async throws -> OneWayReplicator {
        if createsTarget { try await explaining(target) { try await target.create(targetParameters, client) } }
        // The order is CouchDB's: with both missing, it is the source that is named.
        for endpoint in [source, target] {
            let peer = try endpoint.peer(client)
            do { try await explaining(endpoint) { _ = try await peer.connect() } } catch let error as PeerError
                where error.isTransient
            {
                // The replicator tries again.
            }
            await peer.close()
        }
        return OneWayReplicator(try configuration(client))
    }

    private func configuration(_ client: any HTTPTransport) throws -> ReplicationConfiguration {
        configuration(source: try source.peer(client), target: try target.peer(client))
    }

    private func explaining(_ endpoint: ReplicationEndpoint, _ body: () async throws -> Void) async throws {
        do { try await body() } catch let error as PeerError where !error.isTransient {
            switch error.code {
            case .notFound: throw PeerError(.notFound, "could not open \(endpoint.shown)", status: 404, cause: error)
            case .unauthorized, .forbidden:
                throw PeerError(
                    error.code, "unauthorized to access or create database \(endpoint.shown)",
                    status: error.status ?? 401, cause: error)
            default: throw error
            }
        }
    }
}
