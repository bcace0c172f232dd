internal import RevisionTree
internal import SettleDatabase
internal import SettleScripting

/// Asks the validation functions of a database about revisions before they are stored.
///
/// They are asked outside of any transaction, so that no other writer waits for a script. That is as good as inside: a
/// function sees the revision an edit is made on, which never changes, and an edit of one that is no leaf any more is refused.
struct ValidationScripts: Sendable {
    private let scripts: Scripts?
    private let documents: [DesignDocument]
    private let user: JSON
    private let security: JSON

    /// A revision and the one it follows on.
    struct Question {
        let new: [UInt8]
        let old: [UInt8]?
    }

    /// The functions of the database in a request's path.
    ///
    /// - Throws: ``HTTPError`` when there are some and no worker to run them.
    init(_ context: RequestContext) throws {
        let database = try context.database()
        documents = try DesignDocuments.validators(of: database)
        scripts = context.server.scripts
        guard !documents.isEmpty else {
            (user, security) = (.null, .null)
            return
        }
        guard scripts != nil else {
            throw HTTPError.notImplemented("the database has validation functions, and this server runs no scripts")
        }
        user = ScriptRequestObject.user(context.user, of: context.parameter("db"))
        security = try context.server.databases.security(of: context.parameter("db")).json
    }

    /// Whether there is nobody to ask.
    var isEmpty: Bool { documents.isEmpty }

    /// Asks about revisions, each for itself.
    ///
    /// - Returns: For each why it is refused, or `nil`.
    func refusals(of questions: [Question]) -> [DatabaseError?] {
        var refusals = [DatabaseError?](repeating: nil, count: questions.count)
        guard let scripts else { return refusals }
        for document in documents {
            let left = refusals.indices.filter { refusals[$0] == nil }
            guard !left.isEmpty else { break }
            let call = scripts.pool.submit(.validate(left.map { arguments(questions[$0]) }, by: document.source))
            do {
                for (index, answer) in zip(left, try call.wait()) { refusals[index] = Self.refusal(answer) }
            } catch let error as ScriptError where left.count > 1 && error.name != "os_process_error" {
                // One of them made the function fail: each is asked about alone.
                for index in left {
                    do {
                        let answer = try scripts.pool.run(.validate([arguments(questions[index])], by: document.source))
                        refusals[index] = answer.first.flatMap(Self.refusal)
                    } catch { refusals[index] = DatabaseError(.refused, "a validation function failed", cause: error) }
                }
            } catch {
                for index in left {
                    refusals[index] = DatabaseError(.refused, "a validation function failed", cause: error)
                }
            }
        }
        return refusals
    }

    private func arguments(_ question: Question) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        bytes += question.new
        bytes.append(UInt8(ascii: ","))
        bytes += question.old ?? Array("null".utf8)
        bytes += [UInt8(ascii: ",")] + user.utf8 + [UInt8(ascii: ",")] + security.utf8 + [UInt8(ascii: "]")]
        return bytes
    }

    /// What a function has thrown, in CouchDB's reading of it.
    private static func refusal(_ answer: [UInt8]) -> DatabaseError? {
        guard answer != [UInt8(ascii: "1")] else { return nil }
        let thrown = (try? JSON(utf8: answer)) ?? .null
        var cause: any Error = ScriptError("unknown_error", thrown.string ?? thrown.description)
        if let members = thrown.object, members.count == 1, let member = members.first {
            let message = member.value.string ?? member.value.description
            cause =
                switch member.name {
                case "forbidden": ValidationError(status: 403, message: message)
                case "unauthorized": ValidationError(status: 401, message: message)
                default: ScriptError("unknown_error", message)
                }
        }
        return DatabaseError(.refused, "a validation function refused it", cause: cause)
    }
}

extension ValidationScripts {
    /// Asks about edits, as far as they are made on what is stored.
    func refusals(of edits: [DocumentEdit], to database: Database) throws -> [Int: DatabaseError] {
        var questions: [(index: Int, question: Question)] = []
        for (index, edit) in edits.enumerated() where !edit.id.isDesign && !edit.id.isLocal {
            let old: DocumentLookup.Found?
            let record = try database.record(of: edit.id)
            if let parent = edit.parent {
                guard let record, record.tree[parent]?.isLeaf == true,
                    let content = try database.content(of: parent, in: record)
                else { continue }
                old = DocumentLookup.Found(record: record, revision: parent, content: content)
            } else {
                guard record?.tree.isDeleted ?? true else { continue }
                old = nil
            }
            let history = edit.parent.map { RevisionHistory($0) }
            let new = ScriptDocument.new(
                edit.id, history: history, isDeleted: edit.isDeleted, edit.body, edit.attachments)
            questions.append((index, Question(new: new, old: try old.map { try printed($0, database) })))
        }
        return Self.byIndex(questions.map(\.index), refusals(of: questions.map(\.question)))
    }

    /// Asks about revisions that peers have made, as far as they are new here.
    func refusals(of revisions: [ReplicatedRevision], to database: Database) throws -> [Int: DatabaseError] {
        var questions: [(index: Int, question: Question)] = []
        for (index, revision) in revisions.enumerated() where !revision.id.isDesign && !revision.id.isLocal {
            let record = try database.record(of: revision.id)
            if record?.tree.contains(revision.history.revision) == true { continue }
            let new = ScriptDocument.new(
                revision.id, history: revision.history, isDeleted: revision.isDeleted, revision.body,
                revision.attachments)
            let old = try record.flatMap { try ancestor(of: revision, in: $0, database) }
            questions.append((index, Question(new: new, old: try old.map { try printed($0, database) })))
        }
        return Self.byIndex(questions.map(\.index), refusals(of: questions.map(\.question)))
    }

    /// The newest ancestor whose content is kept.
    private func ancestor(
        of revision: ReplicatedRevision, in record: DocumentRecord, _ database: Database
    ) throws -> DocumentLookup.Found? {
        for known in revision.history.revisions.dropFirst() {
            guard let content = try database.content(of: known, in: record) else { continue }
            return DocumentLookup.Found(record: record, revision: known, content: content)
        }
        return nil
    }

    private func printed(_ found: DocumentLookup.Found, _ database: Database) throws -> [UInt8] {
        var options = DocumentOptions()
        options.hasRevisions = true
        return try DocumentPrinter(database: database, options: options)
            .print(found.revision, found.content, of: found.record, hasMeta: false).bytes
    }

    private static func byIndex(_ indexes: [Int], _ refusals: [DatabaseError?]) -> [Int: DatabaseError] {
        var found: [Int: DatabaseError] = [:]
        for (index, refusal) in zip(indexes, refusals) { found[index] = refusal }
        return found
    }
}
