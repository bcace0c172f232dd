internal import Settle

extension Invocation {
    /// The leaf that a change adds to: that of `--rev`, or else what is shown.
    func documentToAdd(to state: DocumentState) throws -> Document? {
        if let revision = try revision() { return try state.document(toEdit: revision) }
        return try state.shown
    }

    /// Does a write again that lost against another one in between, as long as the last write is to win.
    func retrying<Result>(_ isForced: Bool, _ write: () throws -> Result) throws -> Result {
        for _ in 0..<(isForced ? 9 : 0) {
            do { return try write() } catch let error as CommandError where error.status == .conflict {}
        }
        return try write()
    }
}
