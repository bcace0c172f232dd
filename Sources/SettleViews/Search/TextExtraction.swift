internal import SettleCore

/// Extracts the texts of documents for the columns of an index.
struct TextExtraction: Sendable {
    private let hasDefault: Bool
    private let paths: [[String]]

    init(_ index: TextIndex) {
        hasDefault = index.hasDefaultColumn
        paths = index.fields.map { Self.names(of: $0.path) }
    }

    /// The texts of each column; `nil` if there are no texts.
    func texts(of document: JSONValue) -> [String]? {
        var columns: [String] = []
        if hasDefault {
            var all = ""
            for member in document.object ?? JSONObject() where !member.name.hasPrefix("$") {
                Self.collect(member.value, numbers: false, into: &all)
            }
            columns.append(all)
        }
        for path in paths {
            var texts = ""
            Self.follow(path[...], in: document, into: &texts)
            columns.append(texts)
        }
        return columns.allSatisfy(\.isEmpty) ? nil : columns
    }

    private static func follow(_ path: ArraySlice<String>, in value: JSONValue, into texts: inout String) {
        if let elements = value.array, !path.isEmpty {
            for element in elements { follow(path, in: element, into: &texts) }
            return
        }
        guard let name = path.first else { return collect(value, numbers: true, into: &texts) }
        if let next = value.object?[name] { follow(path.dropFirst(), in: next, into: &texts) }
    }

    private static func collect(_ value: JSONValue, numbers: Bool, into texts: inout String) {
        switch value {
        case .string(let text): append(text, to: &texts)
        case .number(let number): if numbers { append(number.text, to: &texts) }
        case .array(let elements): for element in elements { collect(element, numbers: numbers, into: &texts) }
        case .object(let members): for member in members { collect(member.value, numbers: numbers, into: &texts) }
        default: break
        }
    }

    /// Appends a text as a new line; control characters, some of which mark matches, are replaced by spaces.
    private static func append(_ text: String, to texts: inout String) {
        guard !text.isEmpty else { return }
        if !texts.isEmpty { texts += "\n" }
        guard text.utf8.contains(where: { $0 < 0x20 }) else {
            texts += text
            return
        }
        texts += String(decoding: text.utf8.map { $0 < 0x20 && $0 != 0x0A ? 0x20 : $0 }, as: UTF8.self)
    }

    /// The names of a path; `[]`, which means all elements of an array in CouchDB's text indexes, is skipped.
    private static func names(of path: String) -> [String] {
        var names = [""]
        var isEscaped = false
        for character in path {
            if character == ".", !isEscaped {
                names.append("")
            } else if character != "\\" || isEscaped {
                names[names.count - 1].append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        return names.filter { $0 != "[]" }
    }
}
