internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// What requests to `_replicate` want.
extension ReplicationScheduler {
    /// Why a replication may not be, or `nil`.
    func problem(with document: ReplicationDocument, isAdmin: Bool) -> String? {
        for endpoint in [document.source, document.target] {
            guard let url = endpoint.url else { return endpoint.problem }
            if let problem = policy.problem(with: url, isAdmin: isAdmin) { return problem }
        }
        return nil
    }

    /// Runs a replication, and answers at its end, or at once when it is to go on for ever.
    func replicate(_ document: ReplicationDocument, for user: User) -> DeferredResponse {
        answering(document, user) { [self] id, answer in
            let job = ReplicationJob(
                id: id, document: document, origin: nil, user: user.name, isAdmin: user.isServerAdmin)
            guard !document.isContinuous else {
                add(job)
                return answer.fulfil(.json(["ok": true, "_local_id": .string(id)], status: 202))
            }
            add(job) { result in
                switch result {
                case .success(let result): answer.fulfil(.json(ReplicationAnswer.json(result, document)))
                case .failure(let error): answer.fulfil(.error(ReplicationAnswer.error(error)))
                }
            }
        }
    }

    /// Stops what a request once started, by what that said.
    func cancel(_ document: ReplicationDocument, for user: User) -> DeferredResponse {
        answering(document, user) { [self] id, answer in answer.fulfil(cancel(id)) }
    }

    /// Answers when the id of a replication is known.
    private func answering(
        _ document: ReplicationDocument, _ user: User, _ body: @escaping @Sendable (String, DeferredResponse) -> Void
    ) -> DeferredResponse {
        let answer = DeferredResponse()
        let client = policy.client(isAdmin: user.isServerAdmin)
        Task {
            do { body(ReplicationJob.id(try await JobRun.id(document, client), document), answer) } catch {
                answer.fulfil(.error(HTTPError(error)))
            }
        }
        return answer
    }

    /// Stops a job by its name; one that a document asks for is stopped by deleting that.
    func cancel(_ id: String) -> HTTPResponse {
        guard let removed = remove(id, where: { $0.origin == nil }) else { return .error(HTTPError.missing) }
        return .json(["ok": true, "_local_id": .string(removed.id)])
    }
}
