@testable import SettleCommands

/// Reads all records of a text that arrives in pieces of `length` bytes.
func records(
    of text: String, pieces length: Int, _ make: (@escaping () -> [UInt8]) -> some RecordSource
) throws -> [RecordReader.Record] {
    var rest = Array(text.utf8)[...]
    let reader = make {
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }
    var records: [RecordReader.Record] = []
    while let record = try reader.read() { records.append(record) }
    return records
}
