internal import SettleCore
internal import SettleDatabase
internal import SettleScripting

/// The validation functions of a database, and the user who writes.
///
/// The functions run outside of any transaction, so that no other writer waits for a script. ``ValidatedWrite``
/// makes sure that only revisions are stored that they have checked.
struct ValidationScripts: Sendable {
    /// The epoch of the design documents that were read.
    let age: UInt64
    private let scripts: Scripts?
    private let documents: [DesignDocument]
    /// The user and the security object, in one array.
    private let user: [UInt8]

    /// A revision about to be stored, and its parent, both as JSON.
    struct Question {
        let new: [UInt8]
        let old: [UInt8]?
    }

    /// The functions of the database in a request's path.
    ///
    /// - Throws: ``HTTPError`` if there are functions but no worker to run them. Also if a design document is
    ///   damaged, so that its function can't run, and the writer is not an administrator.
    init(_ context: RequestContext) throws {
        let database = try context.database()
        // Read before the documents: a change in between makes them old.
        age = database.designEpoch
        let validators = try DesignDocuments.validators(of: database)
        if let damage = validators.damage {
            let security = try context.databases.security(of: context.parameter("db"))
            guard security.isAdmin(context.user) else { throw HTTPError(damage) }
        }
        documents = context.options.trustsWriters ? [] : validators.documents
        scripts = context.scripts
        guard !documents.isEmpty else {
            user = []
            return
        }
        guard scripts != nil else {
            throw HTTPError.notImplemented("the database has validation functions, and this server runs no scripts")
        }
        let name = context.parameter("db")
        user =
            JSONValue.array([
                ScriptRequestObject.user(context.user, of: name), try context.databases.security(of: name).json,
            ]).utf8
    }

    /// Whether there are no functions.
    var isEmpty: Bool { documents.isEmpty }

    /// Checks each revision separately.
    ///
    /// - Returns: For each revision the reason of its refusal, or `nil`.
    func refusals(of questions: [Question]) -> [DatabaseError?] {
        var refusals = [DatabaseError?](repeating: nil, count: questions.count)
        for document in documents {
            let left = refusals.indices.filter { refusals[$0] == nil }
            guard !left.isEmpty else { break }
            do {
                for (index, refusal) in zip(left, try ask(left.map { questions[$0] }, document)) {
                    refusals[index] = refusal
                }
            } catch let error as ScriptError where left.count > 1 && error.name != "os_process_error" {
                // One of the revisions made the function fail, so each is checked separately.
                for index in left {
                    do { refusals[index] = try ask([questions[index]], document)[0] } catch {
                        refusals[index] = Self.failure(error)
                    }
                }
            } catch { for index in left { refusals[index] = Self.failure(error) } }
        }
        return refusals
    }

    /// Runs one function.
    ///
    /// - Returns: For each question the reason of the refusal, or `nil`.
    private func ask(_ questions: [Question], _ document: DesignDocument) throws -> [DatabaseError?] {
        guard let scripts else { throw ScriptError.noAnswer }
        let documents = questions.map { question in
            [UInt8(ascii: "[")] + question.new + [UInt8(ascii: ",")] + (question.old ?? Array("null".utf8))
                + [UInt8(ascii: "]")]
        }
        let answers = try scripts.pool.run(.validate(documents, of: user, by: document.source))
        guard answers.count == questions.count else { throw ScriptError.noAnswer }
        return answers.map { $0 == [UInt8(ascii: "1")] ? nil : Self.refusal(by: (try? JSONValue(utf8: $0)) ?? .null) }
    }

    private static func failure(_ error: any Error) -> DatabaseError {
        DatabaseError(.refused, "a validation function failed", cause: error)
    }

    /// The error for a value that a function has thrown, interpreted as CouchDB does.
    static func refusal(by thrown: JSONValue) -> DatabaseError {
        var cause: any Error = ScriptError("unknown_error", thrown.string ?? thrown.description)
        if let members = thrown.object, members.count == 1, let member = members.first {
            let message = member.value.string ?? member.value.description
            cause =
                switch member.name {
                case "forbidden": DocumentRejection(status: 403, message: message)
                case "unauthorized": DocumentRejection(status: 401, message: message)
                default: ScriptError("unknown_error", message)
                }
        }
        return DatabaseError(.refused, "a validation function refused it", cause: cause)
    }
}

extension ScriptError {
    /// The error when a worker gives no answer to a question.
    fileprivate static let noAnswer = ScriptError("os_process_error", "a validation function gave no answer")
}
