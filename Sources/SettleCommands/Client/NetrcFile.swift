internal import SettlePlatform

/// A file of passwords by hosts, as curl, git and ftp read it:
///
///     machine couch.example login anna password secret
///     default login guest password guest
///
/// Words are parted by blanks and lines; one with blanks stands in quotes. Macros (`macdef`) are passed over.
struct NetrcFile: Sendable {
    /// What is known of a host.
    struct Entry: Sendable, Equatable {
        /// The host; `nil` for all others.
        var host: String?
        var user: String?
        var password: String?
    }

    private(set) var entries: [Entry] = []

    init(_ text: String) {
        var words = Self.words(text)[...]
        while let word = words.popFirst() {
            switch word {
            case "machine": entries.append(Entry(host: words.popFirst()?.lowercased() ?? ""))
            case "default": entries.append(Entry())
            case "login" where !entries.isEmpty: entries[entries.count - 1].user = words.popFirst()
            case "password" where !entries.isEmpty: entries[entries.count - 1].password = words.popFirst()
            default: break
            }
        }
    }

    /// The file `~/.netrc`; `nil` if it does not exist.
    static func atHome() throws -> NetrcFile? {
        guard let home = getenv("HOME").map({ String(cString: $0) }), access(home + "/.netrc", R_OK) == 0 else {
            return nil
        }
        return NetrcFile(String(decoding: try ByteInput.open(home + "/.netrc").readAll(), as: UTF8.self))
    }

    /// The first entry that fits a host, and a user if one is known.
    func entry(for host: String, user: String?) -> Entry? {
        entries.first { ($0.host == nil || $0.host == host) && (user == nil || $0.user == nil || $0.user == user) }
    }

    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var isMacro = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            // A macro ends with an empty line.
            if isMacro {
                isMacro = !line.allSatisfy(\.isWhitespace)
                continue
            }
            var rest = line[...]
            while let start = rest.firstIndex(where: { !$0.isWhitespace }) {
                rest = rest[start...]
                if rest.first == "#" { break }
                let isQuoted = rest.first == "\""
                if isQuoted { rest.removeFirst() }
                let word = rest.prefix { isQuoted ? $0 != "\"" : !$0.isWhitespace }
                rest = rest[word.endIndex...].dropFirst()
                if word == "macdef", !isQuoted {
                    isMacro = true
                    break
                }
                words.append(String(word))
            }
        }
        return words
    }
}
