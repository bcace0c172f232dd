/// The verbs, in the order the help lists them.
enum VerbList {
    static let all: [any Verb.Type] = [
        CreateVerb.self, InfoVerb.self, DocsVerb.self, GetVerb.self, PutVerb.self, DeleteVerb.self, ChangesVerb.self,
        AttachVerb.self, DetachVerb.self, FindVerb.self, IndexVerb.self, QueryVerb.self, SearchVerb.self,
        DesignVerb.self, TreeVerb.self, ConflictsVerb.self, ShowVerb.self, ResolveVerb.self,
        LogVerb.self, UndoVerb.self, StatusVerb.self, OfflineSyncVerb.self, PushVerb.self, PullVerb.self, SyncVerb.self,
        ReplicationsVerb.self,
        ImportVerb.self, ExportVerb.self, CompactVerb.self, VerifyVerb.self, PurgeVerb.self, ServeVerb.self,
        HelpVerb.self,
        VersionVerb.self,
    ]

    /// What there is to say about them.
    static var guides: [Guide] { all.map { $0.guide } }

    /// The verb of a name.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which names the nearest one.
    static func verb(_ name: String) throws -> any Verb.Type {
        if let verb = all.first(where: { $0.guide.name == name }) { return verb }
        let nearest = NearestWord.find(name, in: guides.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        throw CommandError.usage("there is no verb \"\(name)\"\(nearest)")
    }
}
