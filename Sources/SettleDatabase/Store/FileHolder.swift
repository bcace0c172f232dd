/// An object attached to a database that has files of its own, such as indexes.
package protocol FileHolder: AnyObject, Sendable {
    /// Closes the files until their next use. No call that uses them runs meanwhile.
    func closeFiles()
}
