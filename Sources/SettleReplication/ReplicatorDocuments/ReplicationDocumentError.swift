/// Why a document does not describe a replication.
package struct ReplicationDocumentError: Error, Sendable {
    /// What is wrong with it, without values that may be secrets.
    package let message: String

    init(_ message: String) { self.message = message }
}
