internal import RevisionTree

/// One document that `_bulk_get` is asked for.
struct BulkGetRow: Sendable {
    /// The id as given; `nil` where there is none that may be.
    let id: DocumentID?
    /// The id as it is told back.
    let name: JSON
    let revision: WireRevision?
    /// The revision as it is told back when it is the problem.
    let badRevision: String?
    let attachmentsSince: [WireRevision]?
    /// Why the row can't be answered.
    let problem: HTTPError?

    /// Reads a row.
    ///
    /// - Throws: ``HTTPError`` for one that is no object.
    init(_ value: JSON) throws {
        guard let members = value.object else { throw HTTPError.badRequest("document must be a JSON object") }
        name = members["id"] ?? nil
        var problem: HTTPError?
        var id: DocumentID?
        if let text = members["id"]?.string {
            do { id = try WireDocument.checked(text) } catch { problem = HTTPError(error) }
        } else {
            problem =
                members["id"] == nil
                ? HTTPError.badRequest("document id missed") : .illegalID("Document id must be a string")
        }
        var revision: WireRevision?
        var badRevision: String?
        if let given = members["rev"], problem == nil {
            do { revision = try WireRevision(given) } catch {
                (problem, badRevision) = (HTTPError(error), given.string)
            }
        }
        self.badRevision = badRevision
        attachmentsSince = try members["atts_since"].map { try DocumentOptions.revisions($0) }
        self.id = id
        self.revision = revision
        self.problem = problem
    }
}
