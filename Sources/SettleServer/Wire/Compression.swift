internal import SettleDatabase

/// Compressed request bodies.
enum Compression {
    /// Expands a gzip body.
    ///
    /// - Throws: ``HTTPError`` if it is invalid, or exceeds the limit.
    static func expand(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
        do {
            guard let expanded = try Gzip.expand(bytes, limit: limit) else { throw HTTPRequest.BodyError.tooLarge }
            return expanded
        } catch let error as DatabaseError where error.code == .attachmentMissing { throw notGzip }
    }

    private static let notGzip = HTTPError.badRequest("Request body is not properly gzipped.")
}
