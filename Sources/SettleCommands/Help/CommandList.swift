/// The commands, in the order of the help.
enum CommandList {
    static let all: [any Command.Type] = [
        CreateCommand.self, InfoCommand.self, DocsCommand.self, GetCommand.self, PutCommand.self, DeleteCommand.self,
        ChangesCommand.self,
        AttachCommand.self, DetachCommand.self, FindCommand.self, IndexCommand.self, QueryCommand.self,
        SearchCommand.self,
        DesignCommand.self, TreeCommand.self, ConflictsCommand.self, ShowCommand.self, ResolveCommand.self,
        LogCommand.self, UndoCommand.self, StatusCommand.self, OfflineSyncCommand.self, PushCommand.self,
        PullCommand.self, SyncCommand.self,
        ReplicationsCommand.self,
        ImportCommand.self, ExportCommand.self, CompactCommand.self, VerifyCommand.self, PurgeCommand.self,
        ServeCommand.self,
        HelpCommand.self,
        VersionCommand.self,
    ]

    static var specs: [CommandSpec] { all.map { $0.spec } }

    /// The command with a name.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which suggests the nearest one.
    static func verb(_ name: String) throws -> any Command.Type {
        if let verb = all.first(where: { $0.spec.name == name }) { return verb }
        let nearest = NearestWord.find(name, in: specs.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        throw CommandError.usage("there is no command \"\(name)\"\(nearest)")
    }
}
