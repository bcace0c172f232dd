/// The commands by their groups, in the order of the help.
enum CommandList {
    static let groups: [(title: String, verbs: [any Command.Type])] = [
        (
            "Databases",
            [
                CreateCommand.self, DatabasesCommand.self, InfoCommand.self, DiffCommand.self, DropCommand.self,
                ImportCommand.self, InspectCommand.self, ExportCommand.self, CopyCommand.self,
            ]
        ),
        (
            "Documents",
            [
                DocsCommand.self, GetCommand.self, PutCommand.self, EditCommand.self, DeleteCommand.self,
                ChangesCommand.self, AttachCommand.self, DetachCommand.self,
            ]
        ),
        (
            "Queries",
            [FindCommand.self, IndexCommand.self, SearchCommand.self, QueryCommand.self, DesignCommand.self]
        ),
        ("Sync", [PushCommand.self, PullCommand.self, SyncCommand.self, ReplicationsCommand.self]),
        ("Conflicts", [ConflictsCommand.self, ShowCommand.self, TreeCommand.self, ResolveCommand.self]),
        ("Local changes", [StatusCommand.self, LogCommand.self, UndoCommand.self, OfflineSyncCommand.self]),
        ("Maintenance", [CompactCommand.self, VerifyCommand.self, PurgeCommand.self]),
        (
            "Server",
            [
                ServeCommand.self, UsersCommand.self, SecurityCommand.self, BackupCommand.self, RestoreCommand.self,
                RenewCommand.self, PostgresCommand.self,
            ]
        ),
        ("Tool", [ShellCommand.self, HelpCommand.self, VersionCommand.self]),
    ]

    static var all: [any Command.Type] { groups.flatMap(\.verbs) }

    static var specs: [CommandSpec] { all.map { $0.spec } }

    /// The command with a name.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which suggests the nearest one.
    static func verb(_ name: String) throws -> any Command.Type {
        if let verb = all.first(where: { $0.spec.name == name }) { return verb }
        let near = Suggestion.words(for: name, among: specs.map(\.name))
        let question = Suggestion.question(near).map { "; \($0)" } ?? ""
        throw CommandError.usage(
            "there is no command \"\(name)\"\(question)", verb: near.count == 1 ? near[0] : nil)
    }

    /// A sentence about the commands that have an option, for a command that lacks it.
    static func question(forOption name: String) -> String? {
        let names = specs.filter { $0.options.contains { $0.isNamed(name) } }.map(\.name)
        return names.isEmpty || names.count > 3 ? nil : "it is an option of \(names.joined(separator: ", "))"
    }
}
