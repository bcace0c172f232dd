internal import SettleCore

extension ValidationContext {
    /// Refuses the new revision if one of these members is present and not an ISO 8601 date (SEMANTICS 127).
    ///
    ///     database.addValidation("dates") { try $0.requireDates("created_at", "due") }
    ///
    /// A date is a string of the form `2024-02-29`, optionally followed by `T` or a blank, a time `08:30`, `08:30:06`
    /// or `08:30:06.25`, and a zone `Z`, `+01:00`, `+0100` or `+01`. A nonexistent day, like February 30, is refused. A
    /// member that is absent or null is allowed, and so is a tombstone.
    ///
    /// - Parameter names: The members.
    /// - Throws: ``DocumentRejection`` with status 403, which names the first such member and its value.
    public func requireDates(_ names: String...) throws {
        guard !newRevision.isDeleted else { return }
        for name in names {
            guard let value = newRevision[name], !value.isNull else { continue }
            guard let text = value.string, DateText.isISO8601(text) else {
                throw DocumentRejection(message: "'\(name)' is not an ISO 8601 date: \(value)")
            }
        }
    }
}
