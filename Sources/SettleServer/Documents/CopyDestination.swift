internal import SettleCore
internal import SettlePlatform

/// The destination header of COPY: `id`, or `id?rev=…`.
enum CopyDestination {
    /// - Throws: ``HTTPError`` with status 400 if it is missing, or names another server.
    static func parse(_ header: String?) throws -> (id: DocumentID, revision: WireRevision?) {
        guard let header else { throw HTTPError.badRequest("Destination header is mandatory for COPY.") }
        if header.hasPrefix("http://") || header.hasPrefix("https://") {
            throw HTTPError.badRequest("Destination URL must be relative.")
        }
        let target = RequestTarget(String(header))
        let name = header.prefix { $0 != "?" }
        guard PercentCoding.isUTF8(name) else { throw WireDocument.idIsNoText }
        let id = try WireDocument.checked(PercentCoding.decode(name, plusIsBlank: true))
        return (id, try QueryParameters(target.query).revision())
    }
}
