internal import SettlePlatform

/// Appends the parts of a packed tree.
struct PackedWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(varint value: UInt64) { VariableNumber.append(value, to: &bytes) }

    mutating func append(_ signature: RevisionSignature) {
        if let text = signature.text {
            append(varint: UInt64(text.count))
            bytes.append(contentsOf: text)
        } else {
            withUnsafeBytes(of: (signature.high.bigEndian, signature.low.bigEndian)) { bytes.append(contentsOf: $0) }
        }
    }
}
