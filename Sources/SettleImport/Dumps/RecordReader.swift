internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Splits a dump into the texts of documents, in bounded memory.
///
/// The beginning of the input determines its form (``DumpKind``): documents in lines or one after the other, arrays, answers of
/// CouchDB, and the files of couchbackup and PouchDB. The elements of a list are found by counting brackets outside of strings, so
/// that a malformed element affects only itself, as long as its brackets match. Several lists may follow one another.
///
///     unknown ── begin ──▶ lines                    one document, or one array of a backup, a line
///                    └───▶ between ⇄ list, tail     values by their brackets
package final class RecordReader: RecordSource {
    enum State { case unknown, first, lines, between, list, tail, ended }

    /// Longer texts are reported and skipped.
    package static let longest = 256 * 1024 * 1024

    let cursor: TextCursor
    let longest: Int
    let expected: ForeignDatabase.Kind?
    let translation: JSONTranslation
    var state = State.unknown
    var waiting = Queue<Record>()
    var listLine = 0
    /// Whether the last array began and ended in one line, so that a backup may go on in the next.
    private var hadArrayInLine = false
    private var hasDocument = false
    /// The form, once ``begin()`` was called.
    package internal(set) var form = DumpKind.documents
    /// What was found besides documents.
    package private(set) var notes = DumpNotes()

    /// Creates a reader of a source that returns pieces of text in UTF-8, and an empty one at the end.
    ///
    /// - Parameters:
    ///   - kind: What the input is, where its beginning does not tell.
    ///   - translation: How other products' JSON becomes documents.
    ///   - longest: The length of the longest text in bytes.
    ///   - next: The source.
    package init(
        _ kind: ForeignDatabase.Kind? = nil, translation: JSONTranslation = JSONTranslation(),
        longest: Int = RecordReader.longest, _ next: @escaping () throws -> [UInt8]
    ) {
        expected = kind
        self.translation = translation
        self.longest = longest
        cursor = TextCursor(next)
    }

    /// Finds out the form, and reads up to the first document.
    ///
    /// - Throws: ``ForeignFileError`` for what can't be imported.
    package func begin() throws {
        guard state == .unknown else { return }
        try recognize()
        if waiting.isEmpty, let first = try next() { waiting.putBack(first) }
    }

    /// The next text; `nil` at the end.
    package func read() throws -> Record? {
        try begin()
        return try next()
    }

    private func next() throws -> Record? {
        while true {
            if let record = waiting.popFirst() { return record }
            switch state {
            case .unknown, .ended: return nil
            case .first: try endFirst()
            case .lines: try parseLine()
            case .between: try parseValue()
            case .list: try parseElement()
            case .tail: try parseTail()
            }
        }
    }

    private func end(_ problem: String) {
        state = .ended
        waiting.append(Record(bytes: [], line: cursor.line, column: cursor.column, problem: problem))
    }
}

// MARK: - Values

extension RecordReader {
    func beginArray() throws {
        listLine = cursor.line
        cursor.step()
        state = .list
    }

    private func parseValue() throws {
        switch try cursor.skipBlanks() {
        case nil: state = .ended
        case UInt8(ascii: "[") where hadArrayInLine && form == .array:
            (form, state) = (.couchbackupLines, .lines)
        case UInt8(ascii: "[") where form != .pouchdb: try beginArray()
        case UInt8(ascii: "{"):
            guard case .whole(let part) = try object(findsLists: form != .documents && form != .mongo) else { return }
            try parse(whole: part)
        default: end("something else than a document follows")
        }
    }

    private func parse(whole part: TextCursor.Part) throws {
        switch form {
        case .documents, .array, .mongo: waiting.append(translatedIfNeeded(record(of: part)))
        case .pouchdb:
            guard let outline = try? JSONOutline(part.bytes) else {
                waiting.append(record(of: part))
                return
            }
            if outline["seq"] != nil {
                log("last_seq", Self.value("seq", outline, part.bytes)?.utf8 ?? [])
            } else if outline["db_type"] == nil {
                waiting.append(record(of: part, problem: "neither documents nor a sequence of a PouchDB dump"))
            }
        default: waiting.append(record(of: part, problem: "an object without a list of documents follows"))
        }
    }

    /// Reads what follows the list in its object.
    private func parseTail() throws {
        switch try cursor.skipBlanks() {
        case UInt8(ascii: "}"):
            cursor.step()
            state = .between
        case UInt8(ascii: ","):
            cursor.step()
            guard try cursor.skipBlanks() == UInt8(ascii: "\"") else { return end("a member's name is missing") }
            let name = (try? JSONValue(utf8: cursor.quoted(atMost: Self.longestHead)))?.string ?? ""
            guard try cursor.skipBlanks() == UInt8(ascii: ":") else { return end("a colon is missing") }
            cursor.step()
            _ = try cursor.skipBlanks()
            let value = try cursor.element(atMost: Self.longestHead)
            if Self.heads.contains(name) { log(name, value.bytes) } else { notes.otherMembers.insert(name) }
        case nil: end("the object is not closed")
        default: end("a comma or } is missing after the list")
        }
    }

    func log(_ name: String, _ value: [UInt8]) {
        guard name == "last_seq", let value = try? JSONValue(utf8: value), !value.isNull else { return }
        notes.lastSequence = value.string ?? value.description
    }

    static func value(_ name: String, _ outline: JSONOutline, _ bytes: [UInt8]) -> JSONValue? {
        outline[name].flatMap { try? JSONValue(utf8: Array(bytes[$0])) }
    }
}

// MARK: - Elements

extension RecordReader {
    func parseElement() throws {
        switch try cursor.skipBlanks(and: UInt8(ascii: ",")) {
        case nil: end("the array is not closed")
        case UInt8(ascii: "]"):
            cursor.step()
            hadArrayInLine = listLine == cursor.line
            state = listLine > 0 ? .between : .tail
        case UInt8(ascii: "}"): end("a bracket is closed that was not opened")
        default: try parse(element: cursor.element(atMost: longest))
        }
    }

    func parse(element part: TextCursor.Part) throws {
        switch form {
        case .rows: try parse(row: part)
        case .changes: try parse(change: part)
        default:
            hasDocument = true
            waiting.append(translatedIfNeeded(record(of: part)))
        }
    }

    private func parse(row part: TextCursor.Part) throws {
        guard let outline = try? JSONOutline(part.bytes) else { return waiting.append(record(of: part)) }
        guard let range = Self.object("doc", outline, part.bytes) else {
            if outline["error"] != nil || Self.value("value", outline, part.bytes)?["deleted"] == true {
                notes.emptyRows += 1
                return
            }
            return try lacksDocument(part)
        }
        let record = record(part, range)
        if Self.value("id", outline, part.bytes)?.string?.hasPrefix("_local/") == true, Self.isLog(record.bytes) {
            notes.checkpoints += 1
            return
        }
        hasDocument = true
        waiting.append(record)
    }

    func parse(change part: TextCursor.Part) throws {
        guard let outline = try? JSONOutline(part.bytes) else { return waiting.append(record(of: part)) }
        guard let range = Self.object("doc", outline, part.bytes) else {
            if outline["last_seq"] != nil {
                return log("last_seq", Self.value("last_seq", outline, part.bytes)?.utf8 ?? [])
            }
            return try lacksDocument(part)
        }
        hasDocument = true
        var record = record(part, range)
        // A document that lists its conflicts is counted with its import.
        if let leaves = Self.value("changes", outline, part.bytes)?.array, leaves.count > 1,
            (try? JSONOutline(record.bytes))?["_conflicts"] == nil
        {
            notes.conflicts += 1
        }
        record.isDeletionAtSource = Self.value("deleted", outline, part.bytes) == true
        waiting.append(record)
    }

    private func lacksDocument(_ part: TextCursor.Part) throws {
        guard hasDocument else {
            throw ForeignFileError(
                .unsupported,
                """
                the dump was made without include_docs=true: it has the ids of documents and not the documents; make it \
                again with ?include_docs=true&attachments=true
                """)
        }
        waiting.append(record(of: part, problem: "the row has no document"))
    }

    /// The range of a member that is an object.
    private static func object(_ name: String, _ outline: JSONOutline, _ bytes: [UInt8]) -> Range<Int>? {
        outline[name].flatMap { bytes[$0].first == UInt8(ascii: "{") ? $0 : nil }
    }

    /// Whether a local document is the log of a replication.
    private static func isLog(_ bytes: [UInt8]) -> Bool {
        guard let outline = try? JSONOutline(bytes) else { return false }
        return outline["history"] != nil && (outline["session_id"] != nil || outline["source_last_seq"] != nil)
    }

    func record(of part: TextCursor.Part, problem: String? = nil) -> Record {
        let isLong = part.length > longest
        return Record(
            bytes: isLong ? [] : part.bytes, line: part.line, column: part.column,
            problem: isLong ? "longer than \(longest >> 20) MiB" : problem)
    }

    /// A part of a part.
    private func record(_ part: TextCursor.Part, _ range: Range<Int>) -> Record {
        let before = part.bytes[..<range.lowerBound]
        let lines = before.count { $0 == UInt8(ascii: "\n") }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { range.lowerBound - $0 }
        return Record(
            bytes: Array(part.bytes[range]), line: part.line + lines,
            column: start ?? part.column + range.lowerBound)
    }

    private func translatedIfNeeded(_ record: Record) -> Record { form == .mongo ? translated(record) : record }

    func translated(_ record: Record) -> Record {
        guard record.problem == nil, let value = try? JSONValue(utf8: record.bytes, atMost: translation.maximumValues),
            value["_rev"] == nil
        else {
            return record
        }
        var record = record
        do { record.bytes = try MongoDocument.translated(value, translation).utf8 } catch let error {
            record.problem = error.message
        }
        return record
    }
}

// MARK: - Lines

extension RecordReader {
    private func parseLine() throws {
        guard let part = try cursor.line(atMost: longest) else {
            state = .ended
            return
        }
        if part.length <= longest, part.bytes.allSatisfy(TextCursor.isBlank) { return }
        switch form {
        case .couchbackup, .couchbackupLines: try parse(backup: part)
        case .continuousChanges: try parse(change: part)
        default: waiting.append(translatedIfNeeded(record(of: part)))
        }
    }

    /// Takes a line of a backup: an array of revisions, or a mark.
    private func parse(backup part: TextCursor.Part) throws {
        guard part.length <= longest else { return waiting.append(record(of: part)) }
        let isOld = form == .couchbackupLines
        let line = part.bytes.drop { TextCursor.isBlank($0) }
        let problem = part.bytes.withUnsafeBufferPointer { text -> JSONError? in
            do throws(JSONError) {
                try JSONValue.validate(utf8: text)
                return nil
            } catch { return error }
        }
        if let problem {
            if isOld || Self.endsInMark(line) {
                notes.brokenLines += 1
            } else {
                waiting.append(record(of: part, problem: "the line is damaged: \(problem.message)"))
            }
        } else if line.first == UInt8(ascii: "{") {
            let outline = try JSONOutline(part.bytes)
            if Self.value("name", outline, part.bytes)?.string == Self.couchbackupName {
                let text = { (name: String) in Self.value(name, outline, part.bytes)?.string }
                form = .couchbackup(version: text("version") ?? "", mode: text("mode") ?? "full")
            } else if outline["marker"] == nil {
                waiting.append(record(of: part, problem: "neither an array of revisions nor a mark of a backup"))
            }
        } else if line.first == UInt8(ascii: "[") {
            parse(revisions: part)
        } else {
            waiting.append(record(of: part, problem: "not an array of revisions"))
        }
    }

    private static func endsInMark(_ line: ArraySlice<UInt8>) -> Bool {
        let mark = Array("{\"marker\":\"\(couchbackupName):resume\"}".utf8)
        var end = line
        while let last = end.last, TextCursor.isBlank(last) { end.removeLast() }
        return end.suffix(mark.count).elementsEqual(mark)
    }

    /// Takes the revisions of a line that is valid JSON.
    private func parse(revisions part: TextCursor.Part) {
        var structure = JSONStructure()
        var offset = 0
        part.bytes.withUnsafeBufferPointer { text in
            _ = structure.next(in: text, from: &offset)
            var start = offset
            while let mark = structure.next(in: text, from: &offset) {
                if structure.depth == 0 || structure.depth == 1 && mark == UInt8(ascii: ",") {
                    add(start..<offset - 1)
                    start = offset
                }
                if structure.depth == 0 { break }
            }
        }
        func add(_ range: Range<Int>) {
            let bytes = part.bytes[range].drop { TextCursor.isBlank($0) }
            guard !bytes.isEmpty else { return }
            // A line has no line end in it, so that nothing is counted from its start for each of its revisions.
            let record = Record(bytes: Array(bytes), line: part.line, column: part.column + bytes.startIndex)
            if !notes.isShallow { detectShallow(record.bytes) }
            waiting.append(record)
        }
    }

    private func detectShallow(_ bytes: [UInt8]) {
        guard case .couchbackup(_, "shallow") = form, let outline = try? JSONOutline(bytes) else { return }
        notes.isShallow = outline["_rev"] != nil && outline[WireDocument.revisionsName] == nil
    }
}

// MARK: - Record

extension RecordReader {
    /// The text of one document in an input, and its position.
    package struct Record: Equatable, Sendable {
        package var bytes: [UInt8]
        /// The line of its first byte, from 1.
        package let line: Int
        /// The column of its first byte, from 1.
        package let column: Int
        /// A problem found before it is parsed.
        package var problem: String?
        /// Whether the source says that the document is deleted.
        package var isDeletionAtSource = false
        /// What an id that is taken from a member, or made, begins with.
        package var idPrefix = ""
        /// The file, where the input has several.
        package var file: String?

        package init(bytes: [UInt8], line: Int, column: Int, problem: String? = nil) {
            (self.bytes, self.line, self.column, self.problem) = (bytes, line, column, problem)
        }
    }
}

/// The documents of an input, one by one.
package protocol RecordSource: AnyObject {
    /// The form of the input, once it was begun.
    var form: DumpKind { get }
    /// What was found besides documents.
    var notes: DumpNotes { get }

    /// Finds out the form, and refuses what can't be imported.
    ///
    /// - Throws: ``ForeignFileError``.
    func begin() throws

    /// The text of the next document; `nil` at the end.
    func read() throws -> RecordReader.Record?
}
