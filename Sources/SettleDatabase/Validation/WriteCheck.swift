/// What a caller asks within the transaction of a write, beside the validations of the database.
///
/// A caller that has to ask somebody slow can't do so inside: other writers would wait. It throws there for what it does not
/// know yet, asks outside, and writes again.
package struct WriteCheck: Sendable {
    /// Is called for each revision whose content is about to be stored, with the index of what it comes from among what the
    /// call was given. It throws ``DatabaseError`` with code `refused` to keep it out, and must not wait.
    package typealias Question = @Sendable (_ index: Int, _ context: ValidationContext) throws -> Void

    /// The ``Database/designEpoch`` at which the caller read the design documents.
    let designEpoch: UInt64
    /// What is asked; `nil` where the design documents ask nothing.
    let question: Question?

    /// Makes a check.
    package init(designEpoch: UInt64, question: Question?) {
        self.designEpoch = designEpoch
        self.question = question
    }

    /// The same for a call that is given one item of several, by its place among those.
    package func at(_ place: Int) -> WriteCheck {
        guard let question else { return self }
        return WriteCheck(designEpoch: designEpoch) { _, context in try question(place, context) }
    }

    /// A design document was committed after the caller had read them; nothing was written.
    package struct IsOld: Error {
        /// Makes the error.
        package init() {}
    }
}

extension DocumentEditor {
    /// Sees that a check is not older than the design documents.
    ///
    /// - Throws: ``WriteCheck/IsOld``.
    func begin(_ check: WriteCheck?) throws {
        guard let check, check.designEpoch != designChanges.age else { return }
        throw WriteCheck.IsOld()
    }

    /// The same for what is at an index of a call's arguments.
    func asking(_ check: WriteCheck?, at index: Int) -> DocumentEditor {
        guard let question = check?.question else { return self }
        var editor = self
        editor.question = { try question(index, $0) }
        return editor
    }
}
