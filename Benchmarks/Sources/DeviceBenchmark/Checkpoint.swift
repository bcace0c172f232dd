import SettleCore

/// A document `_local/…` on the server in which a device keeps how far it has come.
@Loop
final class Checkpoint {
    let path: String
    private var revision: String?

    init(_ id: String, in database: String) { path = "\(database)/_local/\(id)" }

    /// Takes what the server has, or `nil` if it has none yet; returns the sequence in it.
    func take(_ document: JSONValue?) -> String? {
        revision = document?["_rev"]?.string
        return document?["last_seq"]?.string
    }

    /// The document that says how far the device is now.
    func body(sequence: String) -> String {
        let parent = revision.map { #""_rev":"\#($0)","# } ?? ""
        return #"{\#(parent)"last_seq":"\#(sequence)"}"#
    }

    /// Takes the answer to the document.
    func wrote(_ answer: JSONValue?) { revision = answer?["rev"]?.string }
}
