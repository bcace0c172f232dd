internal import RevisionTree

/// Looks at design documents before they are stored.
///
/// Functions are not run by this version; what can be told from their form alone is told here.
enum DesignDocumentCheck {
    /// - Throws: ``HTTPError`` for a design document that can't be one.
    static func check(_ document: WireDocument) throws {
        guard !document.isDeleted, let views = document.body["views"] else { return }
        guard let members = views.object else {
            throw HTTPError(400, "invalid_design_doc", "`views` parameter must be an object")
        }
        for view in members where view.value.object == nil {
            throw HTTPError(400, "invalid_design_doc", "`\(view.name)` view must be an object")
        }
    }
}
