internal import Settle

/// A document of an input that was not stored, and why.
struct ImportFailure: Error, Sendable {
    let line: Int
    let column: Int?
    let id: DocumentID?
    let error: CommandError

    init(_ record: RecordReader.Record, _ error: any Error) {
        if let json = error as? JSONError {
            line = record.line + json.line - 1
            column = json.line == 1 ? record.column + json.column - 1 : json.column
            self.error = CommandError("invalid", json.message, status: .refused)
        } else {
            line = record.line
            column = record.column > 1 ? record.column : nil
            self.error = CommandError(error)
        }
        id = nil
    }

    init(line: Int, id: DocumentID?, _ error: any Error) {
        self.line = line
        self.id = id
        column = nil
        self.error = CommandError(error)
    }

    /// The place and the cause, as text.
    var description: String {
        "line \(line)" + (column.map { ", column \($0)" } ?? "") + ": \(error.message)"
    }

    /// The place and the cause, as JSON.
    var json: JSONValue {
        var json: JSONValue = [
            "error": .string(error.code), "message": .string(error.message), "line": .number(JSONNumber(line)),
        ]
        if let column { json["column"] = .number(JSONNumber(column)) }
        if let id { json["id"] = .string(id.string) }
        return json
    }
}
