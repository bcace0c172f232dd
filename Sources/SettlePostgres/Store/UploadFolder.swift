internal import SettleDatabase
internal import SettlePlatform

/// The folder of this node for long bodies of requests, made when it is first needed.
final class UploadFolder: Sendable {
    private let made = Guarded<String?>(nil)

    func path() throws -> String {
        try made.withLock { made in
            if let made { return made }
            let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            let folder = "\(base)/settle-uploads-\(getpid())-\(SecureRandom.hexadecimal(bytes: 4))"
            guard mkdir(folder, 0o700) == 0 else {
                throw DatabaseError(
                    .inputOutput, "can't make the folder \(folder): \(String(cString: strerror(errno)))")
            }
            made = folder
            return folder
        }
    }

    deinit { if let folder = made.withLock({ $0 }) { rmdir(folder) } }
}
