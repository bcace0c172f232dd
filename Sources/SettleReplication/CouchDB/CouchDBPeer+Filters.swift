internal import SettleCore

extension CouchDBPeer {
    /// The function of the design document that a filter names, or the view's map function for the filter `_view`;
    /// `nil` if it does not exist or may not be read, which the changes feed then reports.
    public func filterCode(_ filter: ReplicationFilter) async throws -> String? {
        guard case .named(let name, let parameters) = filter else { return nil }
        let isView = name == "_view"
        let parts = (isView ? parameters["view"]?.string ?? "" : name).split(separator: "/", maxSplits: 1)
        guard parts.count == 2, !parts[0].hasPrefix("_") else { return nil }
        let design: JSON
        do {
            design = try await calls().json("GET", .document(DocumentID(unchecked: "_design/\(parts[0])")))
        } catch let error as PeerError where [401, 403, 404].contains(error.status) { return nil }
        let place = String(parts[1])
        let code = isView ? design["views"]?[place]?["map"]?.string : design["filters"]?[place]?.string
        return code.map { String($0.drop(while: \.isWhitespace)) }
    }
}
