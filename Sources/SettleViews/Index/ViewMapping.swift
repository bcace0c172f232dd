/// Documents that are being mapped.
package protocol ViewMapping {
    /// Waits for the rows: for each document, in order, what was emitted.
    func wait() throws -> [[Emission]]
}
