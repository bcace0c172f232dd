/// A database, and the devices that share it.
@Loop
final class Group {
    let path: String
    let documents: [String]
    private(set) var devices: [Device] = []
    /// Every revision that a device has made, by document: none of them may be lost.
    private(set) var written: [String: [Revision]] = [:]
    /// When revisions were sent to the server, for how soon others hear of them.
    private var sentAt: [Revision: Double] = [:]

    init(path: String, documents: Int) {
        self.path = path
        self.documents = (0..<documents).map { "item-\($0)" }
    }

    func add(_ device: Device) { devices.append(device) }

    func note(_ revision: Revision, of id: String) { written[id, default: []].append(revision) }

    /// These are being sent for the first time.
    func noteSending(_ revisions: [Revision]) {
        let now = Moment.now
        for revision in revisions where sentAt[revision] == nil { sentAt[revision] = now }
    }

    /// Whether the server has these is not known, so nobody can tell how long others took to hear of them.
    func forgetSending(_ revisions: [Revision]) {
        for revision in revisions { sentAt[revision] = -1 }
    }

    /// How long ago the earliest of these was sent, of those sent after a moment.
    func delay(of revisions: [Revision], after moment: Double) -> Double? {
        let times = revisions.compactMap { sentAt[$0] }.filter { $0 > moment }
        return times.min().map { Moment.now - $0 }
    }
}
