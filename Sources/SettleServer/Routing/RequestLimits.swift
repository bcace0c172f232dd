internal import SettleCore

/// How much one request may ask for.
///
/// A value takes many times the memory of its text: `[1,1,1]` about 25 times, `{"":{}}` 50 times. So values are counted while they
/// are read, and a body within `body_size` takes a bounded multiple of it.
enum RequestLimits {
    /// The values that a JSON body may have where it becomes a value: keys, revisions, conditions.
    static let values = 250_000
    /// The queries of one request.
    static let queries = 1000
    /// The names in `fields` of a query.
    static let fields = 1000

    /// Parses a JSON text that a client sent.
    ///
    /// - Throws: ``JSONError``, with code `tooManyValues` above the limit, which is answered with 413.
    static func value(_ bytes: [UInt8]) throws -> JSONValue { try JSONValue(utf8: bytes, atMost: values) }

    /// Checks the number of queries in a request.
    ///
    /// - Throws: ``HTTPError`` with status 413.
    static func check(queries: Int) throws {
        guard queries <= Self.queries else {
            throw HTTPError.tooMany("a request may have \(Self.queries) queries")
        }
    }
}

extension HTTPError {
    static func tooMany(_ reason: String) -> HTTPError { HTTPError(413, "too_large", reason) }

    static let tooManyValues = tooMany(
        "a request may have \(RequestLimits.values) values in its JSON here; send several requests")

    /// A batch with more documents than a setting of CouchDB's later branch allows; 3.5 has no such limit.
    static func batchTooLong(_ name: String, _ limit: Int) -> HTTPError {
        HTTPError(413, "max_\(name)_count_exceeded", String(limit))
    }
}
