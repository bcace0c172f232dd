import SettleCore

/// A device: a replica of one database that pulls all the time, and pushes what it edits now and then.
@Loop
final class Device {
    let number: Int
    let group: Group
    let fleet: Fleet
    var random: RandomSource
    /// What it has, by document id.
    var replica: [String: LeafTree] = [:]
    /// What it has pulled up to.
    var since = "0"
    let pulled: Checkpoint
    let pushed: Checkpoint
    /// The connection by which it pulls.
    let connection: Connection
    /// What it has written and not pushed yet.
    var unpushed: [LocalEdit] = []
    /// Whether it waits for changes, and has all that it has heard of.
    var isWaiting = false
    var isEditing = false
    /// How many revisions it has made.
    var revisions = 0

    init(_ number: Int, in group: Group, of fleet: Fleet) {
        (self.number, self.group, self.fleet) = (number, group, fleet)
        random = RandomSource(seed: RandomSource.mixed(UInt64(fleet.options.seed) << 32 | UInt64(number)))
        pulled = Checkpoint("pull-\(number)", in: group.path)
        pushed = Checkpoint("push-\(number)", in: group.path)
        connection = Connection(fleet.server)
    }

    /// Sends a request; ends with the content of the answer, or `nil` when there is no such document.
    ///
    /// - Throws: why there is no answer, ``Refusal``, or `JSONError`.
    func ask(
        _ kind: RequestKind, _ connection: Connection, _ method: String, _ path: String, _ body: String = ""
    ) async throws -> JSONValue? {
        let request = fleet.server.request(method, path, body)
        let began = Moment.now
        let answer = try await connection.exchange(request, cut: cut())
        fleet.statistics.add(kind, seconds: Moment.now - began)
        if answer.status == 404, kind == .checkpointRead { return nil }
        guard answer.status / 100 == 2 else { throw Refusal(kind: kind, status: answer.status) }
        return try JSONValue(utf8: answer.body)
    }

    /// Lets the time pass that a device takes between two requests of a sync; none while all connect or go quiet.
    func think() async {
        guard fleet.isWorking else { return }
        await Poller.shared.sleep(random.duration(mean: fleet.options.think))
    }

    /// Lets some time pass before the next attempt: each failure doubles it, up to some seconds.
    func backOff(_ failures: Int) async {
        await Poller.shared.sleep(min(5, 0.1 * Double(1 << min(failures, 10))) * (0.5 + random.fraction()))
    }

    /// Reads a checkpoint, and returns the sequence in it.
    func read(_ checkpoint: Checkpoint, _ connection: Connection) async throws -> String? {
        checkpoint.take(try await ask(.checkpointRead, connection, "GET", checkpoint.path))
    }

    /// Writes a checkpoint.
    func write(_ checkpoint: Checkpoint, _ connection: Connection) async throws {
        let body = checkpoint.body(sequence: since)
        let answer = try await ask(.checkpointWrite, connection, "PUT", checkpoint.path, body)
        checkpoint.wrote(answer)
    }

    private func cut() -> Connection.Cut? {
        guard fleet.isWorking, random.fraction() < fleet.options.cutRate else { return nil }
        return Connection.Cut.allCases.randomElement(using: &random)
    }
}

/// A request that the server refused.
struct Refusal: Error, CustomStringConvertible {
    let kind: RequestKind
    let status: Int

    var description: String { "\(kind.name) answered \(status)" }
}
