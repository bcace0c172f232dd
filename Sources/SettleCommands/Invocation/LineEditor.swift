internal import SettlePlatform

#if canImport(CLibEdit)
internal import CLibEdit

/// Reads lines at a terminal with libedit: the line can be edited, the arrow keys bring earlier lines back, Control-R finds one,
/// and Tab completes words.
final class LineEditor {
    private var editor: OpaquePointer?
    private var lines: OpaquePointer?
    private let prompt: UnsafeMutablePointer<CChar>?
    private let history: HistoryFile
    private let console: Console
    private let complete: (String) -> Completer.Completion

    /// Begins to edit lines at the terminal of standard input and output; `nil` if one of them is not a terminal.
    ///
    /// - Parameters:
    ///   - prompt: The text before each line.
    ///   - history: Where lines are kept.
    ///   - console: Shows the words that fit.
    ///   - complete: Finds the words that fit at the end of a text.
    init?(
        prompt: String, history: HistoryFile, console: Console,
        complete: @escaping (String) -> Completer.Completion
    ) {
        guard isatty(STDIN_FILENO) == 1, console.terminal.isTerminal else { return nil }
        Self.readLettersAsUTF8()
        self.prompt = strdup(prompt)
        (self.history, self.console, self.complete) = (history, console, complete)
        editor = settle_edit_begin(
            Unmanaged.passUnretained(self).toOpaque(), { LineEditor.of($0)?.prompt },
            { editor, _ in LineEditor.of(editor)?.completeWord() ?? UInt8(CC_ERROR) })
        guard let editor else { return nil }
        lines = settle_edit_history(editor, Int32(HistoryFile.most))
        for line in history.lines() { remember(line) }
    }

    deinit {
        if let editor { el_end(editor) }
        if let lines { history_end(lines) }
        free(prompt)
    }

    /// The next line without its end; `nil` at the end of the input.
    ///
    /// - Throws: ``CommandError/interrupted`` after Ctrl-C.
    func readLine() throws -> String? {
        var count: Int32 = 0
        guard let editor, let bytes = Interruption.endingRead({ el_gets(editor, &count) }), count > 0 else {
            try Interruption.check()
            return nil
        }
        let line = String(String(cString: bytes).prefix { !$0.isNewline })
        if HistoryFile.isKept(line) {
            remember(line)
            history.append(line)
        }
        return line
    }

    private func remember(_ line: String) { if let lines { settle_history_add(lines, line + "\n") } }

    private static func of(_ editor: OpaquePointer?) -> LineEditor? {
        guard let editor, let context = settle_edit_context(editor) else { return nil }
        return Unmanaged<LineEditor>.fromOpaque(context).takeUnretainedValue()
    }

    /// Completes the word at the cursor as far as all that fit agree; if they differ at once, shows them.
    private func completeWord() -> UInt8 {
        guard let editor, let line = el_line(editor)?.pointee, let start = line.buffer, let cursor = line.cursor else {
            return UInt8(CC_ERROR)
        }
        let text = String(
            decoding: UnsafeRawBufferPointer(start: start, count: cursor - start), as: UTF8.self)
        let completion = complete(text)
        let quote = completion.typed.first.flatMap { $0 == "'" || $0 == "\"" ? $0 : nil }
        let words = completion.words
        guard let first = words.first else { return UInt8(CC_ERROR) }
        // Quoted only now, so that it can't end within an escaped character.
        let shared = words.reduce(first) { common, word in String(zip(common, word).prefix { $0 == $1 }.map(\.0)) }
        var common = ShellWords.quoted(shared, in: quote)
        if words.count == 1, common.last != "/", common.last != "=" {
            common += (quote.map { String($0) } ?? "") + " "
        }
        guard common != String(completion.typed), common.count >= completion.typed.count else {
            return show(words)
        }
        // The editor counts characters as the C library does.
        el_deletestr(editor, Int32(completion.typed.unicodeScalars.count))
        return el_insertstr(editor, common) == 0 ? UInt8(CC_REFRESH) : UInt8(CC_ERROR)
    }

    private func show(_ words: [String]) -> UInt8 {
        let width = (words.map { TextWidth.of($0) }.max() ?? 0) + Grid.gap
        let columns = max(console.width / max(width, 1), 1)
        let rows = (words.count + columns - 1) / columns
        var text = "\n"
        for row in 0..<rows {
            let cells = stride(from: row, to: words.count, by: rows).map { words[$0] }
            for cell in cells.dropLast() {
                text += TextWidth.harmless(cell) + String(repeating: " ", count: width - TextWidth.of(cell))
            }
            text += TextWidth.harmless(cells.last ?? "") + "\n"
        }
        try? console.output.write(text)
        try? console.output.flush()
        return UInt8(CC_REDISPLAY)
    }

    /// Has the C library read letters as UTF-8, whatever the environment says.
    private static func readLettersAsUTF8() {
        setlocale(LC_CTYPE, "")
        if String(cString: nl_langinfo(Int32(CODESET))) != "UTF-8" { setlocale(LC_CTYPE, "C.UTF-8") }
    }
}
#else
/// Where libedit is missing, no editor can be made, and the terminal's own editing remains.
final class LineEditor {
    init?(
        prompt: String, history: HistoryFile, console: Console,
        complete: @escaping (String) -> Completer.Completion
    ) { return nil }

    func readLine() throws -> String? { nil }
}
#endif

// MARK: - HistoryFile

/// The file of the lines that were typed in shells, in `~/.local/state/settle/history` or `$XDG_STATE_HOME`. Only its owner can
/// read it.
struct HistoryFile {
    /// The maximum number of lines; the file grows to twice as many before it is shortened.
    static let most = 1000

    private let path: String?

    /// Finds the file of the user; where there is no home, nothing is kept.
    init() {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
        path = state.map { $0 + "/settle/history" }
    }

    /// Whether a line is remembered: not one that begins with a blank, or has a URL with a password.
    static func isKept(_ line: String) -> Bool {
        guard let first = line.first, !first.isWhitespace else { return false }
        return line.firstMatch(of: /:\/\/[^\/\s@]*:\S*@/) == nil
    }

    /// The remembered lines, the oldest first.
    func lines() -> [String] {
        guard let path, let bytes = try? ByteInput.open(path).readAll() else { return [] }
        let all = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let kept = Array(all.suffix(Self.most))
        if all.count > 2 * Self.most { write(kept.map { $0 + "\n" }.joined(), O_TRUNC) }
        return kept
    }

    /// Adds a line. Failures are of no consequence to the line, which is run all the same.
    func append(_ line: String) { write(line + "\n", O_APPEND) }

    private func write(_ text: String, _ flag: Int32) {
        guard let path else { return }
        for (index, character) in zip(path.indices, path) where character == "/" && index != path.startIndex {
            mkdir(String(path[..<index]), 0o700)
        }
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let output = ByteOutput(descriptor: file)
        try? output.write(text)
        try? output.flush()
    }
}
