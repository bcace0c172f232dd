import SettleCore

/// What a device writes: a number of its own, and text that follows from it, so that every reader can check all of it.
///
/// The digits of the revision follow from the same, hence a body that has got to another revision is noticed.
struct Content {
    let device: Int
    /// Counts the revisions of the device.
    let edit: Int
    let size: Int

    /// The revision with this content.
    func revision(generation: Int) -> Revision {
        let high = RandomSource.mixed(UInt64(truncatingIfNeeded: device << 32 | edit) &+ 1)
        return Revision(generation: generation, high: high, low: RandomSource.mixed(high &+ 1))
    }

    private var text: String {
        let digits = revision(generation: 0).digits
        return String(String(repeating: digits, count: size / digits.count + 1).prefix(size))
    }

    /// A revision as a pusher sends it; its history begins with itself.
    func document(_ id: String, _ history: [Revision], isDeleted: Bool) -> String {
        let revision = history.first?.description ?? ""
        let ids = history.map { "\"\($0.digits)\"" }.joined(separator: ",")
        let deleted = isDeleted ? #","_deleted":true"# : ""
        let revisions = #""_revisions":{"start":\#(history.first?.generation ?? 0),"ids":[\#(ids)]}"#
        let members = #""device":\#(device),"edit":\#(edit),"text":"\#(text)""#
        return #"{"_id":"\#(id)","_rev":"\#(revision)"\#(deleted),\#(revisions),\#(members)}"#
    }

    /// Whether a document has the content that belongs to its revision.
    static func isRight(_ document: JSONValue, of revision: Revision) -> Bool {
        guard let device = document["device"]?.int, let edit = document["edit"]?.int,
            let text = document["text"]?.string
        else { return false }
        let content = Content(device: device, edit: edit, size: text.utf8.count)
        return content.revision(generation: revision.generation) == revision && content.text == text
    }
}
