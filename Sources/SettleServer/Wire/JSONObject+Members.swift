internal import SettleCore

extension JSONObject {
    /// Refuses members that have no meaning in a request.
    ///
    /// - Throws: ``HTTPError`` with status 400, which names the known ones.
    func requireMembers(among known: [String]) throws {
        if let other = names.first(where: { !known.contains($0) }) {
            throw HTTPError.badRequest("There is no `\(other)`; there are \(known.joined(separator: ", ")).")
        }
    }
}
