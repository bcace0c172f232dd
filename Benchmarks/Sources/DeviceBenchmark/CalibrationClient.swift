import SettleCore

/// Sends requests as a device does, one at a time, each about as many documents as those of the devices on average.
@Loop
final class CalibrationClient {
    private let fleet: Fleet
    private let path: String
    private let connection: Connection
    private let checkpoint: Checkpoint
    /// The revisions of each document, the newest first.
    private var histories: [[Revision]]
    private var next = 0
    private var since = "0"
    private var revisions = 0

    init(_ fleet: Fleet, _ path: String) {
        (self.fleet, self.path) = (fleet, path)
        connection = Connection(fleet.server)
        checkpoint = Checkpoint("pull", in: path)
        histories = [[Revision]](repeating: [], count: fleet.options.documents)
    }

    /// Sends any request, and ends with what is answered.
    func ask(
        _ method: String, _ path: String, _ body: String = "", alsoGood: Int = 200
    ) async throws -> JSONValue {
        let answer = try await connection.exchange(fleet.server.request(method, path, body))
        guard answer.status / 100 == 2 || answer.status == alsoGood else {
            throw SetupFailure(request: "\(method) \(path)", status: answer.status)
        }
        return try JSONValue(utf8: answer.body)
    }

    /// Makes what the requests are about.
    func prepare() async throws {
        _ = try await ask("DELETE", path, alsoGood: 404)
        _ = try await ask("PUT", path)
        for _ in histories { try await send(.bulkDocs) }
        try await send(.checkpointWrite)
        since = try await sequence()
    }

    /// The newest sequence of the database.
    func sequence() async throws -> String {
        ChangesPage(try await ask("GET", "\(path)/_changes?limit=0&since=now")).last
    }

    func send(_ kind: RequestKind) async throws {
        switch kind {
        case .checkpointRead: _ = try await ask("GET", checkpoint.path)
        case .checkpointWrite:
            checkpoint.wrote(try await ask("PUT", checkpoint.path, checkpoint.body(sequence: since)))
        case .changes, .longPoll: _ = try await ask("GET", "\(path)/_changes?style=all_docs&since=\(since)")
        case .bulkGet:
            let wanted = takeTurns(kind).map { index in
                #"{"id":"item-\#(index)","rev":"\#(histories[index].first?.description ?? "")"}"#
            }
            _ = try await ask(
                "POST", "\(path)/_bulk_get?revs=true&latest=true", #"{"docs":[\#(wanted.joined(separator: ","))]}"#)
        case .revsDiff:
            let unknown = content(revisions + 1).revision(generation: 9)
            let asked = takeTurns(kind).map { index in #""item-\#(index)":["\#(unknown)"]"# }
            _ = try await ask("POST", "\(path)/_revs_diff", "{\(asked.joined(separator: ","))}")
        case .bulkDocs: try await write()
        }
    }

    private func write() async throws {
        var documents: [String] = []
        for index in takeTurns(.bulkDocs) {
            revisions += 1
            let content = content(revisions)
            histories[index].insert(content.revision(generation: histories[index].count + 1), at: 0)
            documents.append(content.document("item-\(index)", histories[index], isDeleted: false))
        }
        let body = #"{"new_edits":false,"docs":[\#(documents.joined(separator: ","))]}"#
        _ = try await ask("POST", "\(path)/_bulk_docs", body)
    }

    /// The next documents that a request is about.
    private func takeTurns(_ kind: RequestKind) -> [Int] {
        (0..<min(histories.count, fleet.statistics.averageItems(kind))).map { _ in
            next = (next + 1) % histories.count
            return next
        }
    }

    private func content(_ edit: Int) -> Content {
        Content(device: -1, edit: edit, size: fleet.options.size)
    }
}

/// A request that has to succeed, and was refused.
struct SetupFailure: Error, CustomStringConvertible {
    let request: String
    let status: Int

    var description: String { "\(request) answered \(status)" }
}
