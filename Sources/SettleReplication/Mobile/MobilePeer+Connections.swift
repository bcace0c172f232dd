package import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

extension MobilePeer {
    /// The connection for all but subscriptions; a lost one is opened anew.
    func connection() async throws -> MobileConnection {
        let opening = try task(replacing: nil)
        do {
            let connection = try await opening.value
            return connection.isOpen ? connection : try await task(replacing: opening).value
        } catch {
            state.withLock { if $0.opening == opening { $0.opening = nil } }
            throw error
        }
    }

    private func task(replacing old: Task<MobileConnection, any Error>?) throws -> Task<MobileConnection, any Error> {
        try state.withLock { state in
            guard !state.isClosed else { throw closed }
            if let opening = state.opening, opening != old { return opening }
            let opening = Task { try await self.open() }
            state.opening = opening
            return opening
        }
    }

    /// Opens a connection. A session or a token that has expired is replaced once.
    func open() async throws -> MobileConnection {
        let place = address.url.appending("_blipsync")
        var (request, isAgain) = (TransportRequest("GET", place), false)
        while true {
            do {
                let authorizer = state.withLock(\.authorizer)
                let secret = try await authorizer.authorize(&request)
                request.headers.merge(headers)
                do {
                    return try await MobileConnection.open(request, client.options, opener, collection: collection)
                } catch let error as PeerError where error.status == 401 {
                    guard let secret, !isAgain else { throw refused(error, authorizer.tried(at: place)) }
                    authorizer.forget(secret)
                    isAgain = true
                }
            } catch { throw PeerError(error, at: name) }
        }
    }

    private func refused(_ error: PeerError, _ tried: String) -> PeerError {
        PeerError(
            .unauthorized,
            "\(name) refuses \(tried); give a user and a password, or a token, that may do this",
            status: 401, cause: error.cause)
    }
}

extension MobilePeer {
    /// A checkpoint that the server keeps for its clients.
    package func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        do {
            let answer = try await connection().ask("getCheckpoint", ["client": id.checkpoint])
            return PeerLocalDocument(
                revision: answer.properties["rev"] ?? "", body: try JSONValue(utf8: answer.body))
        } catch let error as PeerError where error.status == 404 { return nil } catch {
            throw PeerError(error, at: name)
        }
    }

    /// Stores a checkpoint.
    package func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        let answer = try await connection().ask(
            "setCheckpoint", ["client": id.checkpoint, "rev": revision ?? ""], body: body.utf8)
        return answer.properties["rev"] ?? ""
    }
}

extension DocumentID {
    /// The name of the checkpoint that a local document is.
    fileprivate var checkpoint: String { String(string.dropFirst("_local/".count)) }
}
