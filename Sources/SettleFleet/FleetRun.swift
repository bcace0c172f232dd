internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform
internal import SettleServer
internal import SettleTesting

/// One run of a fleet.
final class FleetRun {
    private static let maximumRounds = 4
    /// A time in 2023, in nanoseconds since 1970.
    private static let start: UInt64 = 1_700_000_000_000_000_000

    private let seed: UInt64
    private let cut: FleetCut
    /// The random numbers of the current step. Each step has its own, so that it does the same if other steps are
    /// left out.
    private var random: SeededRandom
    private let server: FleetServer
    private let client: CouchClient
    private let devices: [LiteDevice]
    /// The devices with Settle's own database.
    private let others: [SettleDevice]
    private let documents: [String]
    private let actions: [CouchClient.Action]
    private let limit: Int?
    private let steps: Int
    private let hasBlobs: Bool
    /// Whether documents are deleted. A replica over CouchDB's protocol that has missed more revisions than are kept
    /// treats its own leaf as a branch, as in CouchDB, and brings it back. So a deletion does not delete the document
    /// there.
    private let hasDeletions: Bool
    /// Whether each edit is made after a replication and sent at once, so that there is never a conflict.
    private let isSerial: Bool
    private let unites: Bool
    private var words: [String: Set<String>] = [:]
    private var time = FleetRun.start
    private let tells: Bool
    private(set) var story: [String] = []
    var outcome = FleetOutcome()

    init(_ seed: UInt64, _ server: FleetServer, without cut: FleetCut, tells: Bool) throws {
        var random = SeededRandom(seed: seed)
        (self.seed, self.cut) = (seed, cut)
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
        let kinds = [[], [], [.http], [.webSocket], [.webSocket], SettleDevice.Kind.allCases][random.below(6)]
        let limit = random.oneIn(3) ? 4 + random.below(3) : nil
        others = try kinds.map { try SettleDevice("settle-" + $0.rawValue, $0, merges: limit == nil) }
        self.limit = limit
        documents = Array(["a", "b", "c"].prefix(1 + random.below(3)))
        hasBlobs = random.oneIn(2)
        var actions: [CouchClient.Action] = [.save, .save, .save, .saveWithoutAttachments]
        hasDeletions = limit == nil || others.isEmpty
        if hasDeletions { actions.append(.delete) }
        if !isSerial { actions += [.branch, .branch, .settle] }
        if hasBlobs { actions += [.attach, .changeBlob, .changeBlob] }
        if limit != nil { actions += [.saveOften, .saveOften] }
        if random.oneIn(8) { actions += [.oddID, .oddID] }
        self.actions = actions
        steps = 8 + random.below(24)
        self.random = random
    }

    var names: [String] {
        present.map { "\($0.name) \($0.kind.rawValue) \($0.resolver.rawValue)" }
            + presentOthers.map(\.name) + ["serial \(isSerial)", "limit \(limit ?? 1000)"]
    }

    /// Everything that a shorter run may leave out.
    var parts: FleetCut { FleetCut(steps: Set(0..<steps), devices: Set(devices.map(\.name) + others.map(\.name))) }

    private var present: [LiteDevice] { devices.filter { !cut.devices.contains($0.name) } }
    private var presentOthers: [SettleDevice] { others.filter { !cut.devices.contains($0.name) } }

    func go() async throws {
        if let limit { try server.call("PUT", "/_revs_limit", .number(JSONNumber(limit))) }
        for number in 0..<steps {
            time += 1_000_000_000
            random = SeededRandom(seed: seed << 8 | UInt64(number + 1))
            if !cut.steps.contains(number) { try await step(number) }
        }
        random = SeededRandom(seed: seed << 8)
        try await meet()
        try check(present)
        for device in presentOthers { try check(device) }
        let fresh = [LiteDevice.Kind.tree, .vector].compactMap { kind in
            LiteDevice("fresh-" + kind.rawValue, kind, .standard, clock: time)
        }
        for device in fresh { _ = try sync(device) }
        try check(fresh)
    }

    private func log(_ text: @autoclosure () -> String) { if tells { story.append(text()) } }

    private func sync(_ device: LiteDevice) throws -> Int {
        let known = device.errors.count
        let moved = try device.sync(server)
        let lines = device.log + device.errors.dropFirst(known).map { "error: \($0)" }
        log((["\(device.name) syncs, \(moved)"] + lines).joined(separator: "\n    "))
        if let stop = device.stop { throw FleetProblem(rule: .running, message: "\(device.name) has stopped: \(stop)") }
        if isSerial, let id = try device.conflicts.first ?? server.conflicts.first {
            throw FleetProblem(rule: .apart, message: "\(device.name) meets a conflict in \(id)")
        }
        return moved
    }

    // MARK: - Steps

    private func step(_ number: Int) async throws {
        guard let id = random.pick(documents), let device = random.pick(devices) else { return }
        let word = "w\(number)"
        if let other = random.pick(others), random.oneIn(3) {
            if cut.devices.contains(other.name) { return }
            if isSerial || random.oneIn(2) { _ = try await sync(other) }
            if random.oneIn(3) { try edit(other, id, word) }
            if isSerial { _ = try await sync(other) }
            return
        }
        let choice = random.below(20)
        if !(7..<13).contains(choice), cut.devices.contains(device.name) { return }
        switch choice {
        case 0..<7:
            if isSerial {
                _ = try sync(device)
                _ = try sync(device)
            } else if device.documents[id] == nil, actions.contains(.delete), random.oneIn(4) {
                // The device makes a document that was deleted before it came here.
                try act(.save, id, word + "-before")
                try act(.delete, id, word)
            }
            edit(device, id, word)
            if isSerial { _ = try sync(device) }
        case 7..<13: try act(random.pick(actions) ?? .save, id, word)
        case 13..<18 where !isSerial: _ = try sync(device)
        case 18:
            if device.kind == .upgraded {
                if random.oneIn(2) {
                    try editBeside(device, id, word)
                } else if random.oneIn(2) {
                    _ = try sync(device)
                    edit(device, id, word)
                }
            }
            log("\(device.name) upgrades")
            device.upgrade()
        case 19 where random.oneIn(3):
            log("\(device.name) resets its checkpoint")
            device.resetCheckpoint()
        default: _ = try sync(device)
        }
    }

    private func sync(_ device: SettleDevice) async throws -> Int {
        let moved = try await device.sync(server)
        log((["\(device.name) syncs, \(moved)"] + device.errors).joined(separator: "\n    "))
        return moved
    }

    private func edit(_ device: SettleDevice, _ id: String, _ word: String) throws {
        outcome.edits += 1
        let old = try device.body(id)
        log("\(device.name) edits \(id) with \(word)")
        if old != nil, random.oneIn(8), hasDeletions {
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
        if old != nil, random.oneIn(8), hasDeletions {
            log("\(device.name) deletes \(id)")
            words[id]?.subtract(old?.names ?? [])
            return device.save(id, nil, at: time)
        }
        var body = old ?? [:]
        body[word] = true
        if hasBlobs, random.oneIn(3) { body["photo"] = device.blob(content(word)) }
        words[id, default: []].insert(word)
        device.save(id, body, at: time)
        log("\(device.name) edits \(id) with \(word)")
    }

    /// Makes the device edit a document that another client edits too, so that it has an unsent edit beside the
    /// server's.
    private func editBeside(_ device: LiteDevice, _ id: String, _ word: String) throws {
        _ = try sync(device)
        edit(device, id, word)
        try act(.save, id, word + "-beside")
    }

    private func content(_ word: String) -> [UInt8] {
        Array("content of \(word)".utf8) + Array(repeating: UInt8(ascii: "."), count: random.oneIn(4) ? 12_000 : 0)
    }

    private func act(_ action: CouchClient.Action, _ id: String, _ word: String) throws {
        outcome.edits += 1
        log("HTTP: \(action.rawValue) \(id) \(word)")
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
            var order = present
            while let device = random.pick(order) {
                order.removeAll { $0 === device }
                moved += try sync(device)
                // Like a continuous replication, which pushes the results of settling at once.
                var again = 0
                while device.settled > 0, again < 3 {
                    moved += try sync(device)
                    again += 1
                }
            }
            for device in presentOthers { moved += try await sync(device) }
            guard moved > 0 else { return }
            outcome.moved += moved
            outcome.rounds += 1
            log("round \(outcome.rounds): \(moved)")
            guard outcome.rounds <= Self.maximumRounds else {
                guard confused.isEmpty else { return }
                throw FleetProblem(rule: .quiet, message: "\(moved) revisions still moved in round \(outcome.rounds)")
            }
        }
    }

    private func check(_ devices: [LiteDevice]) throws {
        let confused = confused
        if let id = try server.conflicts.first(where: { !confused.contains($0) }) {
            throw FleetProblem(rule: .settled, message: "the server has an open conflict in \(id)")
        }
        for device in devices {
            if let id = device.conflicts.first(where: { !confused.contains($0) }) {
                throw FleetProblem(rule: .settled, message: "\(device.name) has an open conflict in \(id)")
            }
            if let id = try device.unsent.first(where: { try !confused.contains($0) || isNext(device, $0) }) {
                let proposal = device.documents[id]?.proposal.map { "\($0.name), known \($0.known ?? "nothing")" } ?? ""
                throw FleetProblem(rule: .sent, message: "\(device.name) has an unsent edit of \(id): \(proposal)")
            }
            for id in documents where !confused.contains(id) { try check(device, id) }
        }
        guard unites || isSerial else { return }
        for (id, words) in words where !confused.contains(id) {
            let names = Set(try server.body(id)?.names ?? [])
            if let lost = words.subtracting(names).min() {
                throw FleetProblem(rule: .words, message: "the word \(lost) of \(id) is lost")
            }
        }
    }

    /// The documents for which revision ids confused a device. They must not stop anything, and may differ.
    private var confused: Set<String> { Set(devices.flatMap { $0.documents.filter(\.value.isConfused).keys }) }

    /// Whether a device proposes an edit from before an upgrade as the next one after the server's state.
    private func isNext(_ device: LiteDevice, _ id: String) throws -> Bool {
        guard let proposal = device.documents[id]?.proposal, !proposal.name.contains("@"), let known = proposal.known
        else { return false }
        return try server.tree(id).flatMap { VersionVector($0)?.revision } == known
    }

    private func check(_ device: SettleDevice) throws {
        let confused = confused
        if let id = try device.database.conflictedDocumentIDs().map(\.string).first(where: { !confused.contains($0) }) {
            throw FleetProblem(rule: .settled, message: "\(device.name) has an open conflict in \(id)")
        }
        for id in documents where !confused.contains(id) {
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
