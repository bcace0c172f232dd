/// A caller's check within the transaction of a write, in addition to the validations of the database.
///
/// If the caller's decision is slow, it must not wait for the decision inside the transaction, because other
/// writers would wait, too. It throws there if the decision is unknown, decides outside, and writes again.
package struct WriteCheck: Sendable {
    /// The check. It is called for each revision whose content is about to be stored, with its index in the
    /// arguments of the call. It throws ``DatabaseError`` with code `refused` to reject the revision, and must not
    /// wait.
    package typealias Question = @Sendable (_ index: Int, _ context: ValidationContext) throws -> Void

    /// The ``Database/designEpoch`` at which the caller read the design documents.
    let designEpoch: UInt64
    /// The check; `nil` if the design documents have no validation functions.
    let question: Question?

    /// Creates a check.
    package init(designEpoch: UInt64, question: Question?) {
        self.designEpoch = designEpoch
        self.question = question
    }

    /// The same check for a call with one of several items, by its index among those.
    package func at(_ place: Int) -> WriteCheck {
        guard let question else { return self }
        return WriteCheck(designEpoch: designEpoch) { _, context in try question(place, context) }
    }

    /// A design document was committed after the caller had read the design documents; nothing was written.
    package struct IsOld: Error {
        /// Creates the error.
        package init() {}
    }
}

extension DocumentEditor {
    /// Checks that a write check is not older than the design documents.
    ///
    /// - Throws: ``WriteCheck/IsOld``.
    func begin(_ check: WriteCheck?) throws {
        guard let check else { return }
        try database.capabilities.shared?.requireCurrentDesign()
        guard check.designEpoch == designChanges.age else { throw WriteCheck.IsOld() }
    }

    /// The editor with the check for the item at an index of a call's arguments.
    func asking(_ check: WriteCheck?, at index: Int) -> DocumentEditor {
        guard let question = check?.question else { return self }
        var editor = self
        editor.question = { try question(index, $0) }
        return editor
    }
}
