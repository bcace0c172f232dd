internal import Foundation
internal import Settle
internal import SettleDatabase
internal import SettlePlatform
internal import SettleReplication

/// The settings of servers, encrypted with a key of the operator's, so that a backup of the database alone logs nobody in.
struct SealedRecord: ServerRecord {
    private let record: any ServerRecord
    private let key: [UInt8]

    /// Makes a record on another one.
    ///
    /// - Parameters:
    ///   - record: Where the encrypted settings are.
    ///   - path: The file of the key: 64 hexadecimal digits.
    /// - Throws: ``CommandError`` for a file that can't be read or has no key.
    init(_ record: any ServerRecord, keyFile path: String) throws {
        self.record = record
        let text = try? String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isWhitespace).first
        guard let key = text.flatMap({ Hexadecimal.decode(String($0)) }), key.count == SealedBytes.keyLength else {
            throw CommandError(
                "read", "\(path) has no key: it needs 64 hexadecimal digits, as `openssl rand -hex 32` writes",
                status: .inputOutput)
        }
        self.key = key
    }

    var place: String { record.place }

    func take() throws { try record.take() }

    func release() { record.release() }

    func read() throws -> (bytes: [UInt8], version: Int64)? {
        guard let found = try record.read() else { return nil }
        do throws(SealedBytes.Fault) {
            return (try SealedBytes(found.bytes).opened(key: key), found.version)
        } catch {
            throw DatabaseError(
                .invalid,
                "\(record.place) can't be decrypted: this node has another key than the node that made them, or none was used then"
            )
        }
    }

    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64? {
        let sealed: SealedBytes
        do { sealed = try SealedBytes(sealing: bytes, key: key) } catch {
            throw DatabaseError(.storage, "\(record.place) could not be encrypted")
        }
        return try record.write(sealed.bytes, replacing: version)
    }

    var newestVersion: Int64? { record.newestVersion }
}
