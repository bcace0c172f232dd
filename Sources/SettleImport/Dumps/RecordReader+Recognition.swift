internal import SettleCore
internal import SettlePlatform

/// What an input is, by its beginning.
extension RecordReader {
    /// Finds out the form by the first value, and takes what that holds.
    func recognize() throws {
        if expected == .couchbackup {
            (form, state) = (.couchbackupLines, .lines)
            return
        }
        switch try cursor.skipBlanks() {
        case nil: state = .ended
        case UInt8(ascii: "["):
            form = .array
            try beginArray()
            try parseElement()
            if let first = waiting.first { try check(first) }
        case UInt8(ascii: "{"): try recognize(try object(findsLists: expected != .realm))
        case let byte?:
            let shown = 0x21..<0x7F ~= byte ? "\"\(Character(Unicode.Scalar(byte)))\"" : "no printable character"
            throw ForeignFileError(
                .unknown,
                """
                line \(cursor.line) begins with \(shown), so the input is not JSON; a table is of the kind csv
                """)
        }
        let isEmpty = waiting.isEmpty && (form == .documents || form == .array)
        if let expected, expected != form.kind, !isEmpty {
            throw ForeignFileError(.unknown, "the input is not \(expected.rawValue); it seems to be \(form.title)")
        }
    }

    private func recognize(_ found: Found) throws {
        switch found {
        case .list: break
        case .whole(let part):
            let record = record(of: part)
            try check(record)
            try recognize(JSONOutline(part.bytes), part)
        }
    }

    private func recognize(_ outline: JSONOutline, _ part: TextCursor.Part) throws {
        func text(_ name: String) -> String? { Self.value(name, outline, part.bytes)?.string }
        let names = Set(outline.members.map(\.name))
        let isDocument = names.contains("_id") || names.contains("_rev")
        if expected == .realm {
            (form, state) = (.realm, .between)
            let records = try RealmDump.records(of: value(part), translation)
            for record in records { waiting.append(record) }
        } else if isDocument {
            parseFirst(part)
        } else if names.contains("__collections__") {
            (form, state) = (.firestore, .between)
            let records = FirestoreDump.records(of: try value(part), translation)
            for record in records { waiting.append(record) }
        } else if text("name") == Self.couchbackupName {
            form = .couchbackup(version: text("version") ?? "", mode: text("mode") ?? "full")
            state = .lines
        } else if names.isSuperset(of: ["version", "db_type"]) {
            (form, state) = (.pouchdb, .between)
        } else if names.isSuperset(of: ["seq", "changes", "id"]) {
            (form, state) = (.continuousChanges, .lines)
            try parse(change: part)
        } else {
            parseFirst(part)
        }
    }

    /// A text that is translated as a whole.
    private func value(_ part: TextCursor.Part) throws(ForeignFileError) -> JSONValue {
        do { return try JSONValue(utf8: part.bytes, atMost: translation.maximumValues) } catch {
            throw ForeignFileError(
                .unsupported, "the text can't be read as a whole: \(error.message). `settle import` has no limit")
        }
    }

    /// Takes the first document.
    private func parseFirst(_ part: TextCursor.Part) {
        state = part.line == cursor.line ? .first : .between
        waiting.append(record(of: part))
        detectMongo()
    }

    /// Looks at the line of the first document: if it ends with the document, the others are lines too.
    func endFirst() throws {
        state = .lines
        while let byte = try cursor.peek() {
            guard TextCursor.isBlank(byte) else {
                if byte == UInt8(ascii: "{") { state = .between }
                return
            }
            cursor.step()
            if byte == UInt8(ascii: "\n") { return }
        }
    }

    /// Refuses an input whose first value is not JSON, or not a document.
    private func check(_ record: Record) throws {
        if let problem = record.problem {
            throw ForeignFileError(.unknown, "line \(record.line): \(problem); nothing can be imported")
        }
        do { _ = try JSONOutline(record.bytes) } catch let error {
            let column = error.line == 1 ? record.column + error.column - 1 : error.column
            throw ForeignFileError(
                .unknown,
                """
                line \(record.line + error.line - 1), column \(column): \(error.message); the input begins like JSON and is not
                """)
        }
        if form == .array { detectMongo() }
    }

    /// Translates the first document if it is written in MongoDB's Extended JSON; the others are translated then, too.
    private func detectMongo() {
        guard form == .documents || form == .array, expected != .json, let first = waiting.first,
            expected == .mongo || MongoDocument.isOne(first.bytes, atMost: translation.maximumValues)
        else { return }
        form = .mongo
        _ = waiting.popFirst()
        waiting.putBack(translated(first))
    }

    /// The name that the header and the marks of a backup have.
    static let couchbackupName = "@cloudant/couchbackup"
}

// MARK: - Objects

extension RecordReader {
    /// What an object turned out to be.
    enum Found {
        /// A list of documents begins: the state is `list`.
        case list
        /// An object without such a list.
        case whole(TextCursor.Part)
    }

    /// What may stand before the list of an answer.
    static let heads: Set<String> = [
        "new_edits", "total_rows", "offset", "update_seq", "last_seq", "pending", "bookmark", "warning",
        "execution_stats",
    ]

    /// Reads an object up to the list of documents in it or, without one, whole.
    func object(findsLists: Bool) throws -> Found {
        var part = TextCursor.Part(line: cursor.line, column: cursor.column)
        func add(_ bytes: [UInt8], length: Int? = nil) {
            part.bytes += bytes
            part.length += length ?? bytes.count
        }
        cursor.step()
        add([UInt8(ascii: "{")])
        while findsLists {
            guard try cursor.skipBlanks() == UInt8(ascii: "\"") else { break }
            let name = try cursor.quoted(atMost: longest)
            add(name)
            guard try cursor.skipBlanks() == UInt8(ascii: ":") else { break }
            cursor.step()
            add([UInt8(ascii: ":")])
            let first = try cursor.skipBlanks()
            let text = (try? JSONValue(utf8: name))?.string ?? ""
            if first == UInt8(ascii: "["), let list = Self.lists[text] {
                cursor.step()
                guard let element = try firstElement(of: list) else { return .list }
                add([UInt8(ascii: "[")])
                add(element.bytes, length: element.length)
                break
            }
            guard Self.heads.contains(text) else { break }
            let value = try cursor.element(atMost: longest)
            add(value.bytes, length: value.length)
            log(text, value.bytes)
            guard value.length <= Self.longestHead, try cursor.peek() == UInt8(ascii: ",") else { break }
            cursor.step()
            add([UInt8(ascii: ",")])
        }
        try cursor.close(&part, atMost: longest)
        return .whole(part)
    }

    private static let lists: [String: DumpKind] = ["docs": .bulk, "rows": .rows, "results": .changes]
    /// The length in bytes of what may stand before or after a list.
    static let longestHead = 1024 * 1024

    /// Begins a list if its first element shows that it is one of documents; otherwise returns that element.
    private func firstElement(of list: DumpKind) throws -> TextCursor.Part? {
        func begin() {
            if form != .pouchdb { form = list }
            state = .list
            listLine = 0
        }
        let first = try cursor.skipBlanks()
        if list == .bulk || first == UInt8(ascii: "]") || first == nil {
            begin()
            return nil
        }
        let element = try cursor.element(atMost: longest)
        guard let outline = try? JSONOutline(element.bytes) else { return element }
        let isOne =
            list == .rows
            ? outline["key"] != nil || outline["id"] != nil : outline["seq"] != nil || outline["changes"] != nil
        guard isOne else { return element }
        begin()
        try parse(element: element)
        return nil
    }
}
