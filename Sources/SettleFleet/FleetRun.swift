internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform
internal import SettleServer
internal import SettleTesting

/// One run of a fleet.
final class FleetRun {
    private static let mostRounds = 4
    /// 2023, in nanoseconds.
    private static let start: UInt64 = 1_700_000_000_000_000_000

    private var random: SeededRandom
    private let server: FleetServer
    private let client: CouchClient
    private let devices: [LiteDevice]
    /// Devices of Settle's own.
    private let others: [SettleDevice]
    private let documents: [String]
    private let actions: [CouchClient.Action]
    private let limit: Int?
    private let hasBlobs: Bool
    /// Whether each edit is made after a replication and sent at once, so that nothing is ever in conflict.
    private let isSerial: Bool
    private let unites: Bool
    /// Whether a database is upgraded. LiteCore compares the ids that such a database has by their generation and digest, as if
    /// there were no branches, and takes each later revision for a conflict with the last id. So an edit may replace another one,
    /// and a document that was deleted may stay on the device.
    private let isUpgraded: Bool
    private var words: [String: Set<String>] = [:]
    private var time = FleetRun.start
    private let tells: Bool
    private(set) var story: [String] = []
    var outcome = FleetOutcome()

    init(_ seed: UInt64, _ server: FleetServer, tells: Bool) throws {
        var random = SeededRandom(seed: seed)
        (self.server, client, self.tells) = (server, CouchClient(server: server), tells)
        let mode = random.below(10)
        isSerial = mode < 3
        unites = !isSerial && mode < 8
        let resolvers = LiteResolver.allCases
        let (isSerial, unites) = (isSerial, unites)
        devices = (0..<1 + random.below(3)).compactMap { index in
            let kinds = isSerial ? [.tree, .vector] : LiteDevice.Kind.allCases
            let resolver = unites ? .uniting : isSerial ? .standard : random.pick(resolvers) ?? .standard
            return LiteDevice(
                "device\(index)", random.pick(kinds) ?? .tree, resolver,
                clock: Self.start + UInt64(random.below(3_600)) * 1_000_000_000)
        }
        isUpgraded = devices.contains { $0.kind == .upgraded }
        let kinds = [[], [], [.http], [.webSocket], [.webSocket], SettleDevice.Kind.allCases][random.below(6)]
        let limit = random.oneIn(3) ? 4 + random.below(3) : nil
        others = try kinds.map { try SettleDevice("settle-" + $0.rawValue, $0, merges: limit == nil) }
        self.limit = limit
        documents = Array(["a", "b", "c"].prefix(1 + random.below(3)))
        hasBlobs = random.oneIn(2)
        var actions: [CouchClient.Action] = [.save, .save, .save, .saveWithoutAttachments]
        if !isUpgraded { actions.append(.delete) }
        if !isSerial { actions += [.branch, .branch, .settle] }
        if hasBlobs { actions += [.attach, .changeBlob, .changeBlob] }
        if limit != nil { actions += [.saveOften, .saveOften] }
        if random.oneIn(8) { actions += [.oddID, .oddID] }
        self.actions = actions
        self.random = random
    }

    var names: [String] {
        devices.map { "\($0.name) \($0.kind.rawValue) \($0.resolver.rawValue)" }
            + others.map(\.name) + ["serial \(isSerial)", "limit \(limit ?? 1000)"]
    }

    func go() async throws {
        if let limit { _ = server.server.answer("PUT", "/_revs_limit", body: Array("\(limit)".utf8)) }
        for number in 0..<8 + random.below(24) { try await step(number) }
        try await meet()
        try check(devices)
        for device in others { try check(device) }
        let fresh = [LiteDevice.Kind.tree, .vector].compactMap { kind in
            LiteDevice("fresh-" + kind.rawValue, kind, .standard, clock: time)
        }
        for device in fresh { _ = try sync(device) }
        try check(fresh)
    }

    private func tell(_ text: @autoclosure () -> String) { if tells { story.append(text()) } }

    private func sync(_ device: LiteDevice) throws -> Int {
        let known = device.errors.count
        let moved = try device.sync(server)
        let lines = device.log + device.errors.dropFirst(known).map { "error: \($0)" }
        tell((["\(device.name) syncs, \(moved)"] + lines).joined(separator: "\n    "))
        if let stop = device.stop { throw FleetProblem(rule: .running, message: "\(device.name) has stopped: \(stop)") }
        if isSerial, let id = try device.conflicts.first ?? server.conflicts.first {
            throw FleetProblem(rule: .apart, message: "\(device.name) meets a conflict in \(id)")
        }
        return moved
    }

    // MARK: - Steps

    private func step(_ number: Int) async throws {
        time += 1_000_000_000
        guard let id = random.pick(documents), let device = random.pick(devices) else { return }
        let word = "w\(number)"
        if let other = random.pick(others), random.oneIn(3) {
            if isSerial || random.oneIn(2) { _ = try await sync(other) }
            if random.oneIn(3) { try edit(other, id, word) }
            if isSerial { _ = try await sync(other) }
            return
        }
        switch random.below(20) {
        case 0..<7:
            if isSerial {
                _ = try sync(device)
                _ = try sync(device)
            }
            edit(device, id, word)
            if isSerial { _ = try sync(device) }
        case 7..<13: try act(random.pick(actions) ?? .save, id, word)
        case 13..<18 where !isSerial: _ = try sync(device)
        case 18:
            tell("\(device.name) upgrades")
            device.upgrade()
        case 19 where random.oneIn(3):
            tell("\(device.name) resets its checkpoint")
            device.resetCheckpoint()
        default: _ = try sync(device)
        }
    }

    private func sync(_ device: SettleDevice) async throws -> Int {
        let moved = try await device.sync(server)
        tell((["\(device.name) syncs, \(moved)"] + device.errors).joined(separator: "\n    "))
        return moved
    }

    private func edit(_ device: SettleDevice, _ id: String, _ word: String) throws {
        outcome.edits += 1
        let old = try device.body(id)
        tell("\(device.name) edits \(id) with \(word)")
        if old != nil, !isUpgraded, random.oneIn(8) {
            words[id]?.subtract(old?.names ?? [])
            return try device.save(id, nil)
        }
        var body = old ?? [:]
        body[word] = true
        words[id, default: []].insert(word)
        try device.save(id, body)
    }

    private func edit(_ device: LiteDevice, _ id: String, _ word: String) {
        outcome.edits += 1
        let old = device.body(id)
        if old != nil, !isUpgraded, random.oneIn(8) {
            tell("\(device.name) deletes \(id)")
            words[id]?.subtract(old?.names ?? [])
            return device.save(id, nil, at: time)
        }
        var body = old ?? [:]
        body[word] = true
        if hasBlobs, random.oneIn(3) { body["photo"] = device.blob(content(word)) }
        words[id, default: []].insert(word)
        device.save(id, body, at: time)
        tell("\(device.name) edits \(id) with \(word)")
    }

    private func content(_ word: String) -> [UInt8] {
        Array("content of \(word)".utf8) + Array(repeating: UInt8(ascii: "."), count: random.oneIn(4) ? 12_000 : 0)
    }

    private func act(_ action: CouchClient.Action, _ id: String, _ word: String) throws {
        outcome.edits += 1
        tell("HTTP: \(action.rawValue) \(id) \(word)")
        switch action {
        case .save, .saveWithoutAttachments:
            if try client.save(id, adding: word, keepsAttachments: action == .save) {
                words[id, default: []].insert(word)
            }
        case .settle: _ = try client.settle()
        case .saveOften:
            for index in 0..<(limit ?? 4) + 2 {
                if try client.save(id, adding: "\(word)-\(index)") { words[id, default: []].insert("\(word)-\(index)") }
            }
        case .delete: words[id]?.subtract(try client.delete(id))
        case .attach: try client.attach(id, "note.txt", content(word))
        case .changeBlob:
            if try server.body(id)?["photo"] != nil { try client.attach(id, "blob_/photo", content(word)) }
        case .branch:
            if try client.branch(id, adding: word, &random) { words[id, default: []].insert(word) }
        case .oddID:
            let names = [
                String(repeating: "long", count: 64), String(repeating: "l", count: 250), "line\u{1}break",
            ]
            if let name = random.pick(names) { _ = try client.save(name, adding: word) }
        }
    }

    // MARK: - The end

    private func meet() async throws {
        while true {
            var moved = try client.settle()
            var order = devices
            while let device = random.pick(order) {
                order.removeAll { $0 === device }
                moved += try sync(device)
                // As a continuous replication does, which pushes at once what was settled.
                var again = 0
                while device.settled > 0, again < 3 {
                    moved += try sync(device)
                    again += 1
                }
            }
            for device in others { moved += try await sync(device) }
            guard moved > 0 else { return }
            outcome.moved += moved
            outcome.rounds += 1
            tell("round \(outcome.rounds): \(moved)")
            guard outcome.rounds <= Self.mostRounds else {
                throw FleetProblem(rule: .quiet, message: "\(moved) revisions still moved in round \(outcome.rounds)")
            }
        }
    }

    private func check(_ devices: [LiteDevice]) throws {
        if let id = try server.conflicts.first {
            throw FleetProblem(rule: .settled, message: "the server has an open conflict in \(id)")
        }
        for device in devices {
            if let id = device.conflicts.first {
                throw FleetProblem(rule: .settled, message: "\(device.name) has an open conflict in \(id)")
            }
            if let id = device.unsent.first {
                let proposal = device.documents[id]?.proposal.map { "\($0.name), known \($0.known ?? "nothing")" } ?? ""
                throw FleetProblem(rule: .sent, message: "\(device.name) has an unsent edit of \(id): \(proposal)")
            }
            for id in documents { try check(device, id) }
        }
        guard unites || isSerial, !isUpgraded else { return }
        for (id, words) in words {
            let names = Set(try server.body(id)?.names ?? [])
            if let lost = words.subtracting(names).min() {
                throw FleetProblem(rule: .words, message: "the word \(lost) of \(id) is lost")
            }
        }
    }

    private func check(_ device: SettleDevice) throws {
        if let id = try device.database.conflictedDocumentIDs().first {
            throw FleetProblem(rule: .settled, message: "\(device.name) has an open conflict in \(id)")
        }
        for id in documents {
            let (own, known) = (try device.body(id), try server.body(id))
            guard Self.members(own) == Self.members(known) else {
                let texts = [own, known].map { $0.map { JSONValue.object($0).description } ?? "none" }
                throw FleetProblem(
                    rule: .equal, message: "\(device.name) and the server differ in \(id): \(texts[0]) and \(texts[1])")
            }
        }
    }

    private static func members(_ body: JSONObject?) -> Set<String>? {
        body.map { Set($0.map { "\($0.name): \($0.value)" }) }
    }

    private func check(_ device: LiteDevice, _ id: String) throws {
        func differ(_ what: String) -> FleetProblem {
            FleetProblem(rule: .equal, message: "\(device.name) and the server differ in \(id): \(what)")
        }
        let (document, body) = (try server.document(id), device.body(id))
        guard let document, let body else {
            guard document == nil, body == nil else {
                throw differ(document == nil ? "the server has none" : "the device has none")
            }
            return
        }
        let own = body.without { $0 == "_attachments" }
        guard Self.members(own) == Self.members(document.json.object) else {
            throw differ("\(JSONValue.object(own)) and \(document.json)")
        }
        for attachment in document.attachments {
            let digest = MobileDigest.of(try server.database.content(of: attachment))
            let name = attachment.name
            let known =
                name.utf8.starts(with: MobileBlob.prefix.utf8)
                ? own["photo"]?["digest"] : body["_attachments"]?[name]?["digest"]
            guard known?.string == digest, device.contents[digest] != nil else {
                throw differ("the attachment \(name)")
            }
        }
        let listed = body["_attachments"]?.object?.names ?? []
        let names = Set(document.attachments.map(\.name))
        if let more = listed.first(where: { !names.contains($0) }) {
            throw differ("the device has the attachment \(more)")
        }
        if own["photo"] != nil, !names.contains("blob_/photo") { throw differ("the server has no content of the blob") }
    }
}
