import Foundation
import Settle
import SettleDatabase

@testable import SettleImport

/// A source that gives bytes in pieces of `length`.
func pieces(of bytes: [UInt8], _ length: Int) -> () -> [UInt8] {
    var rest = bytes[...]
    return {
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }
}

/// Reads all records of a text that arrives in pieces of `length` bytes.
func records(
    of text: String, pieces length: Int, _ make: (@escaping () -> [UInt8]) throws -> some RecordSource
) throws -> [RecordReader.Record] {
    try records(of: make(pieces(of: Array(text.utf8), length)))
}

/// Reads all records of a source.
func records(of reader: some RecordSource) throws -> [RecordReader.Record] {
    var records: [RecordReader.Record] = []
    while let record = try reader.read() { records.append(record) }
    return records
}

/// The text of a record, or its problem.
func text(_ record: RecordReader.Record) -> String {
    record.problem ?? String(decoding: record.bytes, as: UTF8.self)
}

/// Imports a dump into a database.
func load(
    _ text: String, into database: Database, _ options: RecordImporter.Options = RecordImporter.Options()
) throws -> (counts: RecordImporter.Counts, failures: [String]) {
    var failures: [String] = []
    let importer = RecordImporter(DatabaseImportStore(database), options: options) { failure in
        let place = "line \(failure.line)" + (failure.column.map { ", column \($0)" } ?? "")
        failures.append("\(place): \((failure.error as? DatabaseError)?.message ?? "\(failure.error)")")
    }
    try importer.run(RecordReader(nil, pieces(of: Array(text.utf8), .max))) { _ in }
    return (importer.counts, failures)
}
