internal import SettlePlatform

/// A key and a certificate as C text that stays where it is; the key is wiped when it goes.
///
/// Unchecked: there is no lock, for nothing changes between `init` and `deinit`.
final class PEMText: @unchecked Sendable {
    let key: UnsafePointer<CChar>?
    let chain: UnsafePointer<CChar>?

    init(key: String, chain: String) {
        self.key = UnsafePointer(strdup(key))
        self.chain = UnsafePointer(strdup(chain))
    }

    deinit {
        if let key {
            let bytes = UnsafeMutablePointer(mutating: key)
            memset(bytes, 0, strlen(bytes))
            free(bytes)
        }
        free(UnsafeMutablePointer(mutating: chain))
    }
}
