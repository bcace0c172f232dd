internal import Settle
internal import SettleCore
internal import SettleHTTP
internal import SettleImport
internal import SettlePlatform
internal import SettleScripting

/// The failure of a command.
struct CommandError: Error, Sendable {
    /// The kind of failure, as `--json` prints it.
    let code: String
    /// The message: what happened and what to do. URLs in it have no user and password, whatever word it repeats.
    let message: String
    /// The exit status.
    let status: ExitStatus

    init(_ code: String, _ message: String, status: ExitStatus) {
        self.code = code
        self.message = URLRedaction.text(message)
        self.status = status
    }

    /// Translates an error of the library.
    init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as DatabaseError:
            let cause = error.cause.map { ": \($0)" } ?? ""
            self.init(error.code.name, error.message + cause, status: Self.status(of: error.code))
        case let error as JSONError:
            self.init("invalid", error.description, status: .refused)
        case let error as InvalidIdentifier:
            self.init("invalid", error.description, status: .refused)
        case let error as TransportError:
            let advice = error.code == .certificateRejected ? "; --ca FILE names certificates to trust" : ""
            self.init(error.code.name, error.message + advice, status: Self.status(of: error.code))
        case let error as PeerError:
            self.init(error.code.name, error.message, status: Self.status(of: error.code))
        case let error as ScriptError: self.init(error.name, error.reason, status: .refused)
        case let error as QueryError: self.init(error.code.name, error.reason, status: .refused)
        case let error as SelectorError: self.init(error.code.name, error.reason, status: .refused)
        case let error as ForeignFileError: self.init(error)
        case let error as RevisionTreeError:
            self.init("invalid", error.message, status: .refused)
        default: self.init("failure", "\(error)", status: .failure)
        }
    }

    private init(_ error: ForeignFileError) {
        switch error.code {
        case .inUse: self.init("in_use", error.message, status: .inUse)
        case .inputOutput: self.init("input_output", error.message, status: .inputOutput)
        case .unknown: self.init("invalid", error.message, status: .refused)
        case .unsupported, .missing, .damaged: self.init(error.code.rawValue, error.message, status: .refused)
        }
    }

    private static func status(of code: DatabaseErrorCode) -> ExitStatus {
        switch code {
        case .notFound: .notFound
        case .conflict, .exists: .conflict
        case .invalid, .documentTooLarge, .refused: .refused
        case .inUse: .inUse
        case .corrupt, .damagedDocument, .notADatabase, .newerFormat, .attachmentMissing: .damaged
        case .diskFull, .inputOutput, .unavailable: .inputOutput
        default: .failure
        }
    }

    private static func status(of code: TransportErrorCode) -> ExitStatus {
        switch code {
        case .badURL: .usage
        case .badAnswer, .badRedirect: .damaged
        case .cancelled: .interrupted
        case .badRequest, .bodyTooLarge, .failed: .failure
        default: .inputOutput
        }
    }

    private static func status(of code: PeerError.Code) -> ExitStatus {
        switch code {
        case .notFound: .notFound
        case .conflict: .conflict
        case .forbidden, .unauthorized, .tooLarge, .badRequest: .refused
        case .unreachable, .connectionLost, .timedOut, .insecure: .inputOutput
        case .badAnswer, .attachmentMissing: .damaged
        case .cancelled: .interrupted
        default: .failure
        }
    }

    /// The command line is wrong.
    static func usage(_ message: String, verb: String? = nil) -> CommandError {
        let place = verb.map { "settle help \($0)" } ?? "settle help"
        let stop = message.hasSuffix("?") ? "" : "."
        return CommandError("usage", "\(message)\(stop) See `\(place)`", status: .usage)
    }

    /// A requested item does not exist.
    static func notFound(_ message: String) -> CommandError { CommandError("not_found", message, status: .notFound) }

    /// A database keeps no journal.
    static let withoutJournal = notFound(
        "this database has no journal; switch it on with `settle log DB --on` to record later operations")

    /// An argument is invalid.
    static func invalid(_ message: String) -> CommandError { CommandError("invalid", message, status: .refused) }

    /// The system could not read or write.
    static func inputOutput(_ message: String) -> CommandError {
        CommandError("input_output", message, status: .inputOutput)
    }

    /// The user pressed Ctrl-C.
    static let interrupted = CommandError("interrupted", "interrupted", status: .interrupted)

    /// The reader of the output has closed it. The command ends without a message, with the status that a shell
    /// gives to a program that `SIGPIPE` ended.
    static let outputClosed = CommandError(
        "output_closed", "the output was closed by its reader", status: .outputClosed)
}

// MARK: - ExitStatus

/// The exit codes of the tool.
enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
    case notFound = 3
    case conflict = 4
    case refused = 5
    case inUse = 6
    case damaged = 7
    case inputOutput = 8
    case interrupted = 130
    case outputClosed = 141

    /// The description in the help.
    var meaning: String {
        switch self {
        case .success: "success"
        case .failure: "another failure; of an import, sync or resolve: some documents failed"
        case .usage: "invalid command line; nothing was done"
        case .notFound: "no such database, document, revision or attachment"
        case .conflict: "the given revision is not current, or the name exists already"
        case .refused: "invalid input, or refused by a validation or a server"
        case .inUse: "another process has the database open"
        case .damaged:
            "the file is damaged, not a database, or of a newer version; the URL is not a CouchDB server"
        case .inputOutput: "the disk is full, an input/output error, or a server that is unreachable or not trusted"
        case .interrupted: "interrupted by Ctrl-C; reported results are stored"
        case .outputClosed: "the reader of the output closed it, as `head` does; nothing is reported"
        }
    }
}
