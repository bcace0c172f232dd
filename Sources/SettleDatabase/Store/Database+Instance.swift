internal import SettlePlatform

extension Database {
    /// The instance name of this database, created on first use. A database that was deleted and created again under
    /// the same name has another, so that positions in the old one's changes are recognized as invalid.
    package func instanceName() throws -> String {
        if let name = try setting(Self.instanceSetting) { return name }
        return try engine.commit { [file = file] writer in
            if let name = try writer.setting(Self.instanceSetting) { return name }
            return try Self.makeInstance(file, writer)
        }
    }

    /// Gives the database another instance name after it was set back to an older state: readers of its changes recognize their
    /// positions as invalid and start over.
    package func renewInstance() throws {
        try engine.commit { [file = file] writer in _ = try Self.makeInstance(file, writer) }
    }

    /// Gives the database another instance name if its file is not the one that got the name: the file is a copy, which may be older.
    ///
    /// A copy that was written into the same file is not noticed.
    ///
    /// - Returns: Whether the name was replaced.
    package func renewInstanceIfReplaced() throws -> Bool {
        guard let file, try setting(Self.instanceSetting) != nil else { return false }
        let known = try setting(Self.fileSetting)
        guard known != file else { return false }
        // A database of an earlier version does not say which file it had.
        guard known != nil else {
            try engine.commit { try $0.setSetting(Self.fileSetting, to: file) }
            return false
        }
        try renewInstance()
        return true
    }

    private static func makeInstance(_ file: String?, _ writer: any StorageWriter) throws -> String {
        let name = SecureRandom.hexadecimal(bytes: 8)
        try writer.setSetting(instanceSetting, to: name)
        try writer.setSetting(fileSetting, to: file)
        return name
    }

    /// What identifies the database's file in its file system. A file system may give the number of a deleted file to the next one,
    /// and then a copy in its place is not noticed.
    private var file: String? { files.flatMap { FileStatus(path: $0.database) }.map { String($0.number) } }

    private static let instanceSetting = "instance"
    /// The setting with the file that got the instance name. It does not apply to a copy of the database.
    static let fileSetting = "instance_file"
}
