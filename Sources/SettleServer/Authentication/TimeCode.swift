internal import SettleCore
internal import SettlePlatform

/// The codes of an account's second factor (TOTP, RFC 6238), which change every half minute.
///
/// A user's document has it as CouchDB's: `"totp": {"key": "GEZDGNBV…", "algorithm": "sha", "length": 6}`, the key in base32.
struct TimeCode: Sendable {
    private let key: [UInt8]
    private let function: HashFunction
    private let length: Int
    private static let period = 30

    /// Reads it; `nil` for invalid input, with which nobody can log in.
    init?(_ json: JSON) {
        guard let key = json["key"]?.string.flatMap(Base32.decode), !key.isEmpty,
            let function = HashFunction(rawValue: json["algorithm"].map { $0.string ?? "" } ?? "sha")
        else { return nil }
        let length = json["length"].map { $0.int ?? 0 } ?? 6
        guard (6...8).contains(length) else { return nil }
        (self.key, self.function, self.length) = (key, function, length)
    }

    /// Whether a code is the one of now, or of just before or after.
    func accepts(_ code: String, now: Int = SessionCookie.now) -> Bool {
        // All are compared, so that the time does not tell which one it was.
        [now - Self.period, now, now + Self.period].map { Secrets.areEqual(self.code(at: $0).utf8, code.utf8) }
            .contains(true)
    }

    /// The code of a time in seconds.
    func code(at time: Int) -> String {
        let counter = UInt64(max(time, 0) / Self.period)
        let hash = function.code(of: withUnsafeBytes(of: counter.bigEndian) { Array($0) }, key: key)
        let offset = Int((hash.last ?? 0) & 15)
        let word = hash.dropFirst(offset).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(word)
        return String((String(repeating: "0", count: length) + digits).suffix(length))
    }
}
