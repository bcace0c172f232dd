internal import SettleCore
internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// A fault of a server, planted between the server and the devices: it changes the server's messages to those of a
/// server with that fault. The simulation must find each of them.
package enum PlantedFault: String, CaseIterable, Sendable {
    /// A proposal is accepted only if it includes everything that the server's state has seen, and not only
    /// its current version.
    case wholeVector
    /// The server's revision is compared as text, although a device with vectors names it by a version.
    case comparedAsText
    /// Blobs are left out of `_attachments`.
    case unlistedBlobs
    /// A revision's vector omits sources whose revisions were stemmed.
    case prunedVectors
    /// Messages have a lower size limit than contents.
    case smallMessages
    /// Ids are offered that LiteCore does not accept, and its refusal closes the connection.
    case longIDs
    /// A blob's digest does not change with its content.
    case staleBlobs
    /// A save without `_attachments` loses the contents of blobs.
    case lostBlobs
    /// A device's error in its answer to changes closes the connection.
    case closesOnError
    /// A document is offered again before the device has stored an older revision of it.
    case offersUnderWay
    /// An edit of a database that was opened with version vectors is offered back to its device at once.
    case echoesEdits

    /// The state of the faults during a run.
    struct Memory: Sendable {
        /// The original digest of a blob, by document.
        var digests: [String: String] = [:]
        /// Contents that were lost.
        var lost: Set<String> = []
        /// Whether the device that is connected has version vectors, and the edits with ids of a tree that it has pushed.
        var usesVersions = false
        var pushed: [(id: String, revision: String)] = []
    }

    /// The limits of a connection.
    var limits: BLIPLimits {
        var limits = BLIPLimits()
        if self == .smallMessages { limits.largestMessage = 8_000 }
        return limits
    }

    /// The fault on one connection.
    struct Line {
        let fault: PlantedFault
        let database: Database
        let memory: Guarded<Memory>

        private func tree(_ id: String?) -> RevisionTree? {
            id.flatMap { try? database.tree(of: DocumentID(unchecked: $0)) }
        }

        /// Changes an answer of the server.
        func falsify(_ answer: BLIPMessage, to request: BLIPMessage) throws -> BLIPMessage {
            switch (fault, request.profile) {
            case (.wholeVector, "proposeChanges"), (.comparedAsText, "proposeChanges"):
                var falsified = answer
                let rows = try JSONValue(utf8: request.body).array ?? []
                let answers = answer.body.isEmpty ? [] : try JSONValue(utf8: answer.body)
                let changed = rows.enumerated().map { index, row in
                    let answer = answers[index] ?? 0
                    return answer == 0 ? refusal(row) ?? 0 : answer
                }
                falsified.body = JSONValue.array(changed).utf8
                return falsified
            case (.lostBlobs, "getAttachment"):
                let key = (request.properties["docID"] ?? "") + (request.properties["digest"] ?? "")
                if memory.withLock({ $0.lost.contains(key) }) {
                    throw BLIPError.http(404, "no attachment has this digest")
                }
            default: break
            }
            return answer
        }

        private func refusal(_ row: JSONValue) -> JSONValue? {
            guard let tree = tree(row[0]?.string), let winner = tree.winner, let state = VersionVector(tree),
                let name = row[1]?.string
            else { return nil }
            let known = row[2]?.string ?? ""
            switch fault {
            case .wholeVector:
                let seen = Self.versions(in: name + "," + known)
                let hasAll = Self.versions(in: state.text).allSatisfy { version in
                    seen.contains { $0.source == version.source && $0.time >= version.time }
                }
                guard name.contains("@"), !hasAll else { return nil }
                return ["status": 409, "rev": .string(state.text)]
            default:
                guard !name.contains("@"), known != winner.revision.description, !known.isEmpty || !winner.isDeleted
                else { return nil }
                return ["status": 409, "rev": .string(winner.revision.description)]
            }
        }

        private static func versions(in text: String) -> [DocumentVersion] {
            text.split { $0 == "," || $0 == ";" }.compactMap { DocumentVersion(String($0).trimmingBlanks()) }
        }

        /// Changes a request of the server.
        func falsify(request: BLIPMessage) -> BLIPMessage {
            var falsified = request
            let id = request.properties["id"] ?? ""
            switch (fault, request.profile) {
            case (.unlistedBlobs, "rev"):
                guard var body = try? JSONValue(utf8: request.body).object,
                    let listed = body["_attachments"]?.object
                else { break }
                body["_attachments"] = .object(listed.without { $0.utf8.starts(with: MobileBlob.prefix.utf8) })
                falsified.body = JSONValue.object(body).utf8
            case (.prunedVectors, "rev"):
                guard request.properties["rev"]?.contains("@") == true, let tree = tree(id) else { break }
                let limit = (try? database.revisionLimit()) ?? 1000
                let kept = tree.leaves.flatMap { tree.history(of: $0.revision, limit: limit)?.revisions ?? [] }
                let sources = Set(kept.map { DocumentVersion($0).source })
                let history = (request.properties["history"] ?? "").split(separator: ",").filter { name in
                    DocumentVersion(String(name).trimmingBlanks()).map { sources.contains($0.source) } ?? true
                }
                falsified.properties["history"] = history.isEmpty ? nil : history.joined(separator: ",")
            case (.longIDs, "changes"):
                guard let rows = try? JSONValue(utf8: request.body).array, !rows.isEmpty else { break }
                let known = Set(rows.compactMap { $0[1]?.string })
                let added = ((try? database.changes()) ?? []).filter { change in
                    change.id.string.utf8.count > 255 && !known.contains(change.id.string)
                }.map { change -> JSONValue in
                    [
                        .number(JSONNumber(change.sequence.number)), .string(change.id.string),
                        .string(change.winner.description),
                    ]
                }
                falsified.body = JSONValue.array(rows + added).utf8
            case (.staleBlobs, "rev"):
                guard var body = try? JSONValue(utf8: request.body).object,
                    case .object(var photo)? = body["photo"], let digest = photo["digest"]?.string
                else { break }
                let first = memory.withLock { memory in
                    let first = memory.digests[id] ?? digest
                    memory.digests[id] = first
                    return first
                }
                photo["digest"] = .string(first)
                body["photo"] = .object(photo)
                falsified.body = JSONValue.object(body).utf8
            default: break
            }
            return falsified
        }

        /// Whether the server goes on as if a request was answered, or has not sent it.
        func expectsNoAnswer(to request: BLIPMessage) -> Bool {
            fault == .offersUnderWay && request.profile == "rev" || request.number == Self.madeNumber
        }

        /// The number of a request that the server has not sent.
        private static let madeNumber = UInt64.max

        /// Notes a request of the device.
        func note(_ request: BLIPMessage) {
            memory.withLock { memory in
                if request.profile == "subChanges" {
                    memory.usesVersions = request.properties["versioning"] == "version-vectors"
                } else if request.profile == "rev", let id = request.properties["id"],
                    let revision = request.properties["rev"], !revision.contains("@")
                {
                    memory.pushed.append((id, revision))
                }
            }
        }

        /// A request that comes before those of the server.
        func request() throws -> BLIPMessage? {
            guard fault == .echoesEdits else { return nil }
            let pushed = memory.withLock { memory in
                defer { memory.pushed = [] }
                return memory.usesVersions ? memory.pushed : []
            }
            guard !pushed.isEmpty else { return nil }
            let rows = try database.changes().compactMap { change -> JSONValue? in
                guard pushed.contains(where: { $0.id == change.id.string && $0.revision == change.winner.description })
                else { return nil }
                return [
                    .number(JSONNumber(change.sequence.number)), .string(change.id.string),
                    .string(DocumentVersion(change.winner).description),
                ]
            }
            guard !rows.isEmpty else { return nil }
            return BLIPMessage(
                number: Self.madeNumber, properties: ["Profile": "changes"], body: JSONValue.array(rows).utf8)
        }

        /// The status with which the server closes the connection on an answer; `nil` if it does not.
        func status(after answer: BLIPMessage, to request: BLIPMessage) -> UInt16? {
            let closes = [.longIDs, .closesOnError].contains(fault)
            return closes && answer.kind == .error && request.profile == "changes" ? 1011 : nil
        }
    }
}
