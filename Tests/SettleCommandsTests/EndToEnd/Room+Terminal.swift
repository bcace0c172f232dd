import Foundation
import Settle
import SettleTesting
import Testing

/// What a person does at a terminal.
enum TerminalStep {
    /// Waits until a text is shown, after what was waited for before.
    case wait(String)
    /// Types keys.
    case type(String)

    fileprivate var json: JSONValue {
        switch self {
        case .wait(let text): ["wait", .string(text)]
        case .type(let keys): ["type", .string(keys)]
        }
    }
}

extension Room {
    /// Runs the tool at a terminal of its own, and waits for its end; the output is all that was shown.
    func atTerminal(
        _ words: [String], _ steps: TerminalStep..., environment: [String: String] = [:]
    ) throws -> Outcome {
        try write(JSONValue.array(steps.map(\.json)).description, to: "steps.json")
        try write(
            #"""
            import json, os, pty, select, sys, termios, time
            steps, words = json.load(open(sys.argv[1])), sys.argv[2:]
            process, terminal = pty.fork()
            if process == 0:
                os.execv(words[0], words)
            shown, seen, end = b"", 0, time.monotonic() + 120
            def read():
                global shown
                if not select.select([terminal], [], [], max(end - time.monotonic(), 0))[0]:
                    sys.stdout.write("nothing more is shown: " + shown.decode("utf-8", "replace"))
                    sys.stdout.flush()
                    os._exit(99)
                try:
                    piece = os.read(terminal, 65536)
                except OSError:
                    return False
                shown += piece
                return len(piece) > 0
            prompt = b""
            for kind, text in steps:
                text = text.encode()
                if kind == "type":
                    # The line editor shows its prompt just before it takes single keys.
                    while prompt.endswith(b"> ") and termios.tcgetattr(terminal)[3] & termios.ICANON:
                        if time.monotonic() > end:
                            break
                        time.sleep(0.01)
                    os.write(terminal, text)
                    continue
                prompt = text
                while text not in shown[seen:]:
                    if not read():
                        break
                seen = shown.find(text, seen) + len(text)
            while read():
                pass
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            sys.stdout.write(shown.decode("utf-8", "replace"))
            sys.stdout.flush()
            os._exit(status if status >= 0 else 98)
            """#, to: "terminal.py")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "terminal.py", "steps.json", try Self.tool().path] + words
        process.currentDirectoryURL = folder
        let own = ["TERM": "xterm", "HOME": folder.path, "XDG_STATE_HOME": "", "NO_COLOR": "1", "LC_ALL": "C"]
        process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        return Outcome(status: process.waitForEnd(), output: String(decoding: bytes, as: UTF8.self), errors: "")
    }
}
