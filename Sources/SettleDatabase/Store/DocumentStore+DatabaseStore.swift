extension DocumentStore: DatabaseStore, ServerStore {
    /// The folder's path.
    public var place: String { path }

    /// False: one server has a folder.
    package var isShared: Bool { false }

    /// Makes a list that is kept in memory, and read again when another program has changed the folder.
    package func nameList() -> any DatabaseNameList { FolderNames(self) }

    /// Makes the record of the file `server.json` in the folder, and of the folder's lock.
    package func serverRecord() -> any ServerRecord { FolderRecord(path) }

    /// Does nothing: there is no other node.
    package func freshen(_ names: [String]) throws {}

    /// Makes the folder `uploads` in the store's: not the databases' own, for its time of change tells of databases.
    package func uploadFolder() throws -> String {
        let folder = path + "/uploads"
        try makePrivateFolder(folder)
        return folder
    }
}
