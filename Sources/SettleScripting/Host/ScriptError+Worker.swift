internal import SettleCore

extension ScriptError {
    /// Parses an error from a worker: `["name","reason"]`.
    init(json bytes: [UInt8]) {
        let parts = (try? JSON(utf8: bytes))?.array ?? []
        self.init(parts.first?.string ?? "unnamed_error", parts.last?.string ?? "an error without a reason")
    }
}
