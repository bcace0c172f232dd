import Settle

/// What a database must contain: everything acknowledged, according to the journal of the killed process.
struct Ledger {
    /// What one document must contain.
    struct Debt {
        /// Acknowledged revisions, and whether they are deletions, if known.
        var revisions: [RevisionID: Bool?] = [:]
        /// Revisions that were purged and must not come back.
        var purged: Set<RevisionID> = []
        /// Whether a purge was started and not acknowledged: the document may be there or not.
        var isBeingPurged = false
    }

    /// An acknowledged attachment.
    struct Content {
        let id: DocumentID
        let revision: RevisionID
        let name: String
        let content: AttachmentContent
    }

    var debts: [DocumentID: Debt] = [:]
    var contents: [Content] = []
    var stamps: [String: Int] = [:]
    var locals: [DocumentID: Int64] = [:]
    /// The revisions that unacknowledged settlements would write, live or deleted: all of them are there, or none.
    var plans: [DocumentID: [RevisionID: Bool]] = [:]
    /// How many operations were acknowledged in the last round.
    private(set) var acknowledged = 0
    /// How many settlements were acknowledged in the last round.
    private(set) var settled = 0
    /// Whether the process reported that the database was open.
    private(set) var isReady = false
    /// The failures that the process reported.
    private(set) var complaints: [String] = []

    /// Starts a round: the contents of the previous one are checked, and `verify` still watches them.
    mutating func beginRound() {
        contents = []
        acknowledged = 0
        settled = 0
        isReady = false
    }

    /// Reads a journal; an incomplete last line was cut by the kill and is ignored.
    mutating func read(_ journal: String) {
        guard let end = journal.lastIndex(of: "\n") else { return }
        for line in journal[..<end].split(separator: "\n") {
            take(line.split(separator: " ", omittingEmptySubsequences: false).map(String.init), line)
        }
    }

    private mutating func take(_ words: [String], _ line: Substring) {
        switch words.first {
        case "ready":
            isReady = true
            return
        case "!": complaints.append(String(line.dropFirst(2)))
        case "C": break
        case "G" where words.count == 4: stamps[words[1]] = Int(words[3])
        case "L" where words.count == 3: locals[id(words[1])] = Int64(words[2])
        case "p" where words.count == 2: debts[id(words[1]), default: Debt()].isBeingPurged = true
        case "P" where words.count == 2: purge(id(words[1]))
        case "z" where words.count > 2: plans[id(words[1])] = plan(words)
        case "Z" where words.count > 2: settle(id(words[1]), plan(words), line)
        case "S", "H", "D", "R", "A":
            guard words.count >= 3, let revision = RevisionID(words[2]) else { fallthrough }
            owe(id(words[1]), revision, isDeleted: words[0] == "R" ? nil : words[0] == "D")
            guard words[0] == "A", words.count == 6, let seed = UInt64(words[4]), let length = Int(words[5]) else {
                break
            }
            contents.append(
                Content(
                    id: id(words[1]), revision: revision, name: words[3],
                    content: AttachmentContent(seed: seed, length: length)))
        default: complaints.append("a line of the journal can't be read: \(line)")
        }
        if !["p", "z"].contains(words[0]) { acknowledged += 1 }
    }

    private func id(_ text: String) -> DocumentID { (try? DocumentID(validating: text)) ?? "unreadable" }

    private mutating func owe(_ id: DocumentID, _ revision: RevisionID, isDeleted: Bool?) {
        debts[id, default: Debt()].revisions[revision] = .some(isDeleted)
    }

    /// The revisions of a settlement, and whether each is a tombstone.
    private func plan(_ words: [String]) -> [RevisionID: Bool] {
        var plan: [RevisionID: Bool] = [:]
        for word in words.dropFirst(2) {
            if let revision = RevisionID(String(word.dropFirst())) { plan[revision] = word.first == "-" }
        }
        return plan
    }

    private mutating func settle(_ id: DocumentID, _ plan: [RevisionID: Bool], _ line: Substring) {
        if plans.removeValue(forKey: id) != plan { complaints.append("what was settled had not been begun: \(line)") }
        for (revision, isDeleted) in plan { owe(id, revision, isDeleted: isDeleted) }
        settled += 1
    }

    private mutating func purge(_ id: DocumentID) {
        let known = debts[id]?.revisions.keys.map { $0 } ?? []
        debts[id] = Debt(revisions: [:], purged: Set(known), isBeingPurged: false)
    }
}
