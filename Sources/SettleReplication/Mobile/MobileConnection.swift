internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
package import SettleHTTP
package import SettleMobile
internal import SettlePlatform

/// One open connection to a server of Couchbase Mobile's protocol: the client's requests, and the answers to the
/// server's.
///
///     open ─→ getCollections ─→ requests about one collection, all of them with its number
///        └─→ an old server: requests about the only collection there is, without a number
final class MobileConnection: Sendable {
    private struct State {
        var blip: BLIPConnection?
        var subscription: MobileSubscription?
        var uploads = MobileUploads()
        var hasEnded = false
    }

    /// The name of the server in messages.
    let place: String
    /// The properties of all requests.
    private let common: [String: String]
    private let state: Guarded<State>

    private init(_ place: String, _ common: [String: String], _ state: Guarded<State>) {
        (self.place, self.common, self.state) = (place, common, state)
    }

    deinit { state.withLock(\.blip)?.close(1000) }

    /// Connects, and selects the collection.
    ///
    /// - Parameters:
    ///   - request: The address of the WebSocket, with the headers that authenticate.
    ///   - options: Certificates and proxy.
    ///   - opener: Opens the connection.
    ///   - collection: `scope.collection`; `nil` for the default collection.
    ///   - usesNumbers: Whether requests name their collection. Servers that don't support collections refuse such
    ///     requests.
    /// - Returns: The connection.
    /// - Throws: ``PeerError``; with code `notFound` if the server does not have the collection.
    static func open(
        _ request: HTTPRequest, _ options: TransportOptions, _ opener: MobileOpener, collection: String?,
        usesNumbers: Bool = true
    ) async throws -> MobileConnection {
        let place = "\(request.url.authority)\(request.url.path)"
        let state = Guarded(State())
        do {
            let blip = try await opener.open(request, options) { wake in
                BLIPConnection(
                    isServer: false, limits: BLIPLimits(), handler: { dispatch($0, state) }, wake: wake,
                    ended: { end(state) })
            }
            state.withLock { if !$0.hasEnded { $0.blip = blip } }
            let connection = MobileConnection(place, usesNumbers ? ["collection": "0"] : [:], state)
            if usesNumbers, try await !connection.choose(collection ?? "_default") {
                return try await open(request, options, opener, collection: collection, usesNumbers: false)
            }
            return connection
        } catch { throw PeerError(error, at: place) }
    }

    /// Selects the collection; returns whether the server accepts its number in requests. Couchbase Lite's peers
    /// before 3.4 support collections, but refuse the number of the default one.
    private func choose(_ collection: String) async throws -> Bool {
        let body: JSONValue = ["collections": [.string(collection)], "checkpoint_ids": ["settle"]]
        do {
            let answer = try await send(BLIPMessage(properties: ["Profile": "getCollections"], body: body.utf8))
            guard try JSONValue(utf8: answer.body)[0]?.object != nil else {
                throw PeerError(.notFound, "\(place) has no collection \(collection)", status: 404)
            }
            let probe = ["Profile": "getCheckpoint", "client": "settle"].merging(common) { $1 }
            _ = try await send(BLIPMessage(properties: probe))
        } catch let error as BLIPError where error == .http(404, error.description) {
            // The checkpoint does not exist.
        } catch let error as BLIPError where collection == "_default" && [400, 404].contains(error.code) {
            return false
        }
        return true
    }

    /// Sends a request, and waits for the answer.
    ///
    /// - Throws: ``PeerError``, with the status of the server's answer.
    func ask(_ profile: String, _ properties: [String: String] = [:], body: [UInt8] = []) async throws -> BLIPMessage {
        var all = common.merging(properties) { $1 }
        all["Profile"] = profile
        do { return try await send(BLIPMessage(properties: all, body: body)) } catch let error as BLIPError {
            throw PeerError(error, of: profile, at: place)
        }
    }

    private func send(_ message: BLIPMessage) async throws -> BLIPMessage {
        guard let blip = state.withLock(\.blip) else { throw BLIPError.closed }
        let answer = Promise<Result<BLIPMessage, any Error>>()
        blip.send(message) { answer.fulfil($0.mapError { $0 }) }
        return try await answer.get(ifCancelled: .failure(CancellationError())).get()
    }

    /// Answers a request of the server.
    func respond(to request: BLIPMessage, with answer: BLIPMessage) {
        state.withLock(\.blip)?.respond(to: request, with: answer)
    }

    /// Closes the connection. Requests that wait for an answer fail.
    func close() { state.withLock(\.blip)?.close(1000) }

    /// Whether the connection can still be used.
    var isOpen: Bool { state.withLock { $0.blip?.isClosing == false } }

    /// Receives the changes and revisions that the server sends.
    var subscription: MobileSubscription? {
        get { state.withLock(\.subscription) }
        set { state.withLock { if !$0.hasEnded { $0.subscription = newValue } } }
    }

    /// Keeps contents ready while their revisions are being sent.
    func offer(_ contents: [String: [UInt8]]) { state.withLock { $0.uploads.add(contents) } }

    /// Removes contents whose revisions have arrived.
    func withdraw(_ digests: some Collection<String>) { state.withLock { $0.uploads.remove(digests) } }

    /// Ends the connection after the socket has closed, and breaks the reference cycles.
    private static func end(_ state: Guarded<State>) {
        let subscription = state.withLock { state in
            defer { (state.hasEnded, state.blip, state.subscription) = (true, nil, nil) }
            return state.subscription
        }
        subscription?.end()
    }

    private static func dispatch(_ message: BLIPMessage, _ state: Guarded<State>) {
        let (blip, subscription) = state.withLock { ($0.blip, $0.subscription) }
        switch message.profile {
        case "changes", "rev", "norev":
            guard let subscription else { fallthrough }
            subscription.receive(message)
        case "getAttachment", "proveAttachment":
            blip?.respond(to: message, with: state.withLock { $0.uploads.answer(message) })
        default: blip?.respond(to: message, with: .failure(.noHandler))
        }
    }
}

extension PeerError {
    /// Creates an error from the server's error answer, or from the end of the connection.
    init(_ error: BLIPError, of profile: String, at place: String) {
        if error == .closed {
            self.init(.connectionLost, "the connection to \(place) was lost", cause: error)
        } else if error.domain == "HTTP" {
            let answer = CouchDBError(
                status: error.code, error: "", reason: error.description, method: profile, path: place)
            self.init(answer, at: place)
        } else {
            // With this error, a peer of Couchbase Lite refuses to send a database with version vectors to a client
            // that has only revision trees.
            let hasVersions = error.domain == "LiteCore" && error.code == 501 && profile == "subChanges"
            let advice =
                hasVersions
                ? "; its database has version vectors (Couchbase Lite 4), and can be pushed to, but not pulled from; let both sync with a server"
                : ""
            self.init(
                .badRequest,
                "\(place) refuses \(profile): \(error.domain) \(error.code), \(error.description)\(advice)",
                cause: error)
        }
    }
}

/// Opens the client's end of a connection to a server of Couchbase Mobile's protocol.
package struct MobileOpener: Sendable {
    /// Creates the client's end, which calls the closure when it has something to send.
    package typealias Maker = (_ wake: @escaping @Sendable () -> Void) -> BLIPConnection

    /// Connects.
    package let open: @Sendable (HTTPRequest, TransportOptions, Maker) async throws -> BLIPConnection

    package init(_ open: @escaping @Sendable (HTTPRequest, TransportOptions, Maker) async throws -> BLIPConnection) {
        self.open = open
    }

    /// Opens a WebSocket. A request with an invalid header is refused before anything is sent.
    package static let socket = MobileOpener { request, options, make in
        try HTTPRequestCheck.check(request)
        guard let bell = SocketBell() else { throw TransportError(.failed, "the system has no sockets left") }
        let connection = make(bell.ring)
        try await WebSocketClient.open(request, options, connection, bell)
        return connection
    }
}

// MARK: - MobileUploads

/// The contents of blobs and attachments that the server may request while their revisions are being sent.
struct MobileUploads {
    private var contents: [String: (bytes: [UInt8], users: Int)] = [:]

    /// Adds contents by their digests.
    mutating func add(_ given: [String: [UInt8]]) {
        for (digest, bytes) in given { contents[digest] = (bytes, (contents[digest]?.users ?? 0) + 1) }
    }

    /// Removes contents, because one revision with each of them has arrived.
    mutating func remove(_ digests: some Collection<String>) {
        for digest in digests {
            guard let entry = contents[digest] else { continue }
            contents[digest] = entry.users > 1 ? (entry.bytes, entry.users - 1) : nil
        }
    }

    /// Answers `getAttachment` with the content, and `proveAttachment` with a proof of having it: the SHA-1 of the
    /// nonce's length, the nonce and the content.
    func answer(_ message: BLIPMessage) -> BLIPMessage {
        guard let content = contents[message.properties["digest"] ?? ""]?.bytes else {
            return .failure(.http(404, "no revision on its way has this content"))
        }
        guard message.profile == "proveAttachment" else { return BLIPMessage(.reply, body: content) }
        guard let length = UInt8(exactly: message.body.count), length > 0 else {
            return .failure(.http(400, "the nonce must have 1 to 255 bytes"))
        }
        return BLIPMessage(.reply, body: Array(MobileDigest.of([length] + message.body + content).utf8))
    }
}
