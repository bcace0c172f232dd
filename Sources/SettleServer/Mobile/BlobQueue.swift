internal import SettleCore
internal import SettleDatabase
internal import SettleMobile

/// Revisions that wait for the contents of their blobs, which are asked for two at a time, so that no more than two are in memory.
///
///     revision with blobs ─ add ─→ waits ── next ─→ getAttachment ─→ fill ─→ the revision, once it has all
///                                                               └──→ fail ─→ the revision, which is refused
struct BlobQueue {
    /// A content that is to be asked for.
    struct Question: Sendable {
        /// The number of the message whose revision waits.
        let number: UInt64
        let collection: Int
        let id: DocumentID
        let content: MobileContent
    }

    private static let mostRevisions = 64
    private static let mostBytes = 32 << 20
    private static let mostQuestions = 2

    private var waiting: [UInt64: PushedRevision] = [:]
    private var questions: [Question] = []
    private var open = 0
    /// The bytes of the messages that wait.
    private(set) var bytes = 0

    /// Has a revision wait.
    ///
    /// - Returns: Whether there was room for it.
    mutating func add(_ revision: PushedRevision) -> Bool {
        let size = revision.message.body.count
        guard waiting.count < Self.mostRevisions, bytes + size <= Self.mostBytes || waiting.isEmpty else {
            return false
        }
        bytes += size
        let number = revision.message.number
        waiting[number] = revision
        questions += revision.missing.map {
            Question(number: number, collection: revision.collection, id: revision.id, content: $0)
        }
        return true
    }

    /// The next question; `nil` while two are open or nothing is asked.
    mutating func next() -> Question? {
        guard open < Self.mostQuestions else { return nil }
        while !questions.isEmpty {
            let question = questions.removeFirst()
            // Of a revision that was refused meanwhile nothing is asked.
            guard waiting[question.number] != nil else { continue }
            open += 1
            return question
        }
        return nil
    }

    /// Takes the content that was asked for.
    ///
    /// - Returns: The revision if it has all contents now.
    mutating func fill(_ question: Question, with content: DocumentAttachment) -> PushedRevision? {
        open -= 1
        waiting[question.number]?.take(content, for: question.content.digest)
        return waiting[question.number]?.missing.isEmpty == true ? remove(question.number) : nil
    }

    /// Records that the client does not send a content.
    ///
    /// - Returns: The revision, unless it was refused before.
    mutating func fail(_ question: Question) -> PushedRevision? {
        open -= 1
        return remove(question.number)
    }

    private mutating func remove(_ number: UInt64) -> PushedRevision? {
        guard let revision = waiting.removeValue(forKey: number) else { return nil }
        bytes -= revision.message.body.count
        return revision
    }
}
