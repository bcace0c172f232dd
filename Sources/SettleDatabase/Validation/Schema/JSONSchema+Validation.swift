internal import RevisionTree

extension JSONSchema {
    /// A validation function that refuses what the schema does not allow (SEMANTICS 126).
    ///
    ///     let schema = try JSONSchema(["type": "object", "required": ["title"]])
    ///     database.addValidation("note", schema.validation())
    ///
    /// The refusal has status 403 and says where in the document the first problem is. Tombstones, which usually have no
    /// members, are let through (SEMANTICS 119), and so are design documents.
    ///
    /// - Parameter isConcerned: Which other documents the schema is for; all unless given.
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
