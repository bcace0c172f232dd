package import Foundation

/// A form of database files, and what opens it.
package struct ForeignKind: Sendable {
    /// The kinds of databases in this form.
    package let kinds: Set<ForeignDatabase.Kind>
    /// Opens a file or folder; `nil` if it is in another form. The first kind is the database's, unless a caller names
    /// another one of the list.
    package let open: @Sendable (URL) throws -> (kinds: [ForeignDatabase.Kind], reader: any ForeignReader)?

    /// The forms, in the order in which they are tried.
    package static let all = [
        ForeignKind(kinds: [.couchbase1, .cloudant, .cblite, .pouchdb]) { url in
            try ForeignSQLite.reader(at: url).map { (ForeignSQLite.kinds(of: $0), $0) }
        },
        ForeignKind(kinds: [.pouchdb]) { url in try LevelDBReader.reader(at: url).map { ([.pouchdb], $0) } },
        ForeignKind(kinds: [.couchdb]) { url in try CouchFileReader.reader(at: url).map { ([.couchdb], $0) } },
    ]

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - url: The file or folder.
    ///   - kind: What it must be; `nil` for any kind.
    /// - Returns: `nil` if it is none of the forms, or of another kind.
    /// - Throws: ``ForeignFileError`` for a database that can't be read.
    package static func reader(
        at url: URL, _ kind: ForeignDatabase.Kind?
    ) throws -> (kind: ForeignDatabase.Kind, reader: any ForeignReader)? {
        for form in all where kind.map(form.kinds.contains) ?? true {
            guard let (kinds, reader) = try form.open(url), let found = kind ?? kinds.first, kinds.contains(found)
            else {
                continue
            }
            return (found, reader)
        }
        return nil
    }
}
