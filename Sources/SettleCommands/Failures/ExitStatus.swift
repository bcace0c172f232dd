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

    /// The description in the help.
    var meaning: String {
        switch self {
        case .success: "all is well"
        case .failure: "it failed in another way; of an import, sync or resolve: some failed"
        case .usage: "the command line is wrong; nothing was done"
        case .notFound: "there is no such database, document, revision or attachment"
        case .conflict: "the document was changed since the revision that was given, or the name is taken"
        case .refused: "what was given is not valid, or a validation or a server refused it"
        case .inUse: "another process has the database open"
        case .damaged:
            "the file is damaged, or no database, or was written by a newer version; the URL is not a CouchDB server"
        case .inputOutput: "the disk is full, the system could not read or write, or a server is not reached or trusted"
        case .interrupted: "interrupted by Ctrl-C; what was reported as done is done"
        }
    }
}
