import Foundation
import Settle
import SettleTesting
import Testing

/// Ctrl-C while a folder's index is built.
@Suite(.timeLimit(.minutes(5))) struct InterruptedIndexTests {
    private let room: Room
    /// What makes the tool wait when it has created an index, until the file `gate` is not locked.
    private let waiting: [String: String]
    #if os(Linux)
    private static let count = 20_000
    #else
    /// So many that an index is far from done when its file is seen.
    private static let count = 150_000
    #endif

    init() throws {
        room = try Room()
        #if os(Linux)
        waiting = try room.preload(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <fcntl.h>
            #include <stdarg.h>
            #include <string.h>
            #include <sys/file.h>
            int open64(const char *path, int flags, ...) {
                static int hasWaited = 0;
                int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
                va_list others;
                va_start(others, flags);
                int file = real(path, flags, va_arg(others, unsigned));
                va_end(others);
                const char *end = strrchr(path, '.');
                if (flags & O_CREAT && end && !strcmp(end, ".index") && !hasWaited) {
                    hasWaited = 1;
                    flock(real("gate", O_RDONLY), LOCK_EX);
                }
                return file;
            }
            """)
        #else
        waiting = [:]
        #endif
        var lines = ""
        for number in 0..<Self.count { lines += "{\"_id\":\"n\(number)\",\"n\":\(number % 100),\"t\":\"a text\"}\n" }
        #expect(try room.run("import", "db", "-", "--quiet", input: lines).status == 0)
        let view = #"{"views":{"n":{"map":"function (doc) { emit(doc.n) }"}}}"#
        #expect(try room.run("put", "db", "_design/shop", view).status == 0)
        #expect(try room.run("index", "create", "db", "n", "--name", "by-n", "--ddoc", "find").status == 0)
    }

    private var indexes: Int {
        let files = try? FileManager.default.contentsOfDirectory(atPath: room.path("db/views"))
        return files?.count { $0.hasSuffix(".index") } ?? 0
    }

    @Test(arguments: [
        (["query", "db", "shop/n", "--key", "3", "--json"], count / 100),
        (["find", "db", "n = 3", "--json"], count / 100),
        (["search", "db", "text", "--count"], 1),
    ])
    func `it ends the verb at once, and the folder is as usable as before`(words: [String], lines: Int) throws {
        #expect(indexes == 0)
        let gate = open(room.path("gate"), O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        #expect(flock(gate, LOCK_EX) == 0)
        let process = try room.start(words, "build", waiting)
        // The file is made when the first documents have been read.
        waitUntil("the file is there") { indexes > 0 || !process.isRunning }
        process.interrupt()
        close(gate)
        process.waitForEnd()
        let outcome = try room.outcome(process, "build")
        #expect(outcome.status == 130 && outcome.output.isEmpty, "\(outcome)")
        #expect(try room.run("put", "db", "after", "{}").status == 0)
        #expect(try room.run("docs", "db", "--limit", "3").lines.count == 3)
        #expect(try room.run("verify", "db").status == 0)
        let again = try room.run(all: words)
        #expect(again.status == 0 && again.lines.count == lines, "\(again.errors)")
    }
}
