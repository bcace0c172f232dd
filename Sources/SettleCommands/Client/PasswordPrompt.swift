internal import SettlePlatform

/// Asks for a password on the terminal, which does not show what is typed; standard input stays for documents.
enum PasswordPrompt {
    /// The passwords that were typed, so that a shell asks once.
    private static let known = Guarded<[String: String]>([:])

    /// Asks, the first time in this process; `nil` where there is no terminal.
    ///
    /// - Throws: ``CommandError/interrupted`` after Ctrl-C; the terminal shows again what is typed then.
    static func ask(_ user: String, at host: String) throws -> String? {
        let place = "\(user)\n\(host)"
        if let password = known.withLock({ $0[place] }) { return password }
        guard let password = try typed(user, at: host) else { return nil }
        known.withLock { $0[place] = password }
        return password
    }

    private static func typed(_ user: String, at host: String) throws -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var usual = termios()
        guard tcgetattr(terminal, &usual) == 0 else { return nil }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &usual)
            write("\n", to: terminal)
        }
        write("Password of \(user) at \(host): ", to: terminal)
        return try readLine(terminal)
    }

    private static func readLine(_ terminal: Int32) throws -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(terminal, &byte, 1)
            try Interruption.check()
            if count == 1, byte != UInt8(ascii: "\n") {
                line.append(byte)
            } else if count >= 0 || errno != EINTR {
                return String(decoding: line, as: UTF8.self)
            }
        }
    }

    private static func write(_ text: String, to terminal: Int32) {
        let bytes = Array(text.utf8)
        _ = systemWrite(terminal, bytes)
    }
}

/// `write`, whose name the enumeration has taken.
private func systemWrite(_ descriptor: Int32, _ bytes: [UInt8]) -> Int { write(descriptor, bytes, bytes.count) }
