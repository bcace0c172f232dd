/// Where the file of an index is, and which other indexes of the database have theirs open.
package struct IndexPlace: Sendable {
    let path: String
    let openIndexes: OpenIndexes
}
