internal import SettleCore

extension JSONSchema {
    /// A validation function that refuses documents which violate the schema (SEMANTICS 126).
    ///
    ///     let schema = try JSONSchema(["type": "object", "required": ["title"]])
    ///     database.addValidation("note", schema.validation())
    ///
    /// The refusal has status 403 and names the position of the first problem. Tombstones, which usually have no
    /// members, are accepted (SEMANTICS 119), and so are design documents.
    ///
    /// - Parameter isConcerned: Which other documents to check; all unless given.
    /// - Returns: The function, for ``Database/addValidation(_:_:)``.
    public func validation(for isConcerned: @escaping @Sendable (Document) -> Bool = { _ in true }) -> Validation {
        { context in
            let document = context.newRevision
            guard !document.isDeleted, !document.id.isDesign, isConcerned(document) else { return }
            guard let problem = problems(in: document.json).first else { return }
            throw ValidationError(message: problem.description)
        }
    }
}
