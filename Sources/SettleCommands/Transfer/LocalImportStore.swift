internal import Settle

/// Stores documents in a database on this machine.
struct LocalImportStore: ImportStore {
    private let database: Database
    let intake: AttachmentIntake

    init(_ database: Database) {
        self.database = database
        intake = AttachmentIntake(database)
    }

    func transaction(_ body: () throws -> Void) throws { try database.transaction(body) }

    func save(_ documents: [Document], onConflict conflict: Importer.Conflict) throws -> [Importer.Outcome] {
        try database.saveAll(documents, onConflict: conflict == .overwrite ? .lastWriteWins : .fail).map { result in
            switch result {
            case .success: .stored
            case .failure(let error as DatabaseError) where error.code == .conflict && conflict == .skip: .skipped
            case .failure(let error): .failed(error)
            }
        }
    }

    func insert(_ revisions: [ReplicatedRevision]) throws -> [Importer.Outcome] {
        try database.insertReplicated(revisions).map { outcome in
            switch outcome {
            case .stored: .stored
            case .known: .known
            case .refused(let error): .failed(error)
            }
        }
    }

    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws { try database.saveLocalDocument(id, body: body) }
}
