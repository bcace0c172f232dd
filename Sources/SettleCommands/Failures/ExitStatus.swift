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
