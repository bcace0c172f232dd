internal import SettleDatabase

/// Compressed request bodies.
enum Compression {
    /// Expands a gzip body.
    ///
    /// - Throws: ``HTTPError`` if it is invalid, or exceeds the limit.
    static func expand(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
        do {
            let gzip = try Gzip(.expand)
            var expanded: [UInt8] = []
            try bytes.withUnsafeBytes { buffer in
                try gzip.process(buffer, isLast: true) { piece in
                    guard expanded.count + piece.count <= limit else { throw HTTPRequest.BodyError.tooLarge }
                    expanded.append(contentsOf: piece)
                }
            }
            guard gzip.isAtEnd else { throw notGzip }
            return expanded
        } catch let error as DatabaseError where error.code == .attachmentMissing { throw notGzip }
    }

    private static let notGzip = HTTPError.badRequest("Request body is not properly gzipped.")
}
