/// How documents in answers spell their numbers.
///
/// A number may have more digits than a float, and one revision id stands for all spellings of a float. CouchDB's answers spell
/// the float; between Settle's own programs the stored spelling travels, so that replicas keep one body.
package enum NumberSpelling {
    /// The request header that asks for a spelling; other servers ignore it.
    package static let header = "Settle-Numbers"
    /// The header's value for numbers as they are stored.
    package static let stored = "stored"
}
