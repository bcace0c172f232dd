import SettlePlatform
import Testing

@Suite(.timeLimit(.minutes(5))) struct BytePipeTests {
    private struct Broken: Error {}

    private let pieces = (1...50).map { [UInt8](repeating: UInt8($0), count: $0 * 7) }

    private func offer(_ bytes: [UInt8], to pipe: BytePipe) -> BytePipe.Offer {
        bytes.withUnsafeBytes { pipe.offer($0) }
    }

    private func rest(_ pipe: BytePipe) async throws -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        while let piece = try await pipe.next() { pieces.append(piece) }
        return pieces
    }

    @Test func `pieces pass from a task to a task in order`() async throws {
        let pipe = BytePipe()
        let writer = Task { [pieces] in
            for piece in pieces { try await pipe.put(piece) }
            pipe.finish()
        }
        #expect(try await rest(pipe) == pieces)
        try await writer.value
        #expect(try await pipe.next() == nil)
    }

    @Test func `pieces pass from a thread to a task in order`() async throws {
        let (pipe, failure) = (BytePipe(), Guarded<(any Error)?>(nil))
        let thread = try SystemThread { [pieces] in
            do {
                for piece in pieces { #expect(try pipe.write(piece) {}) }
                pipe.finish()
            } catch { failure.withLock { $0 = error } }
        }
        #expect(try await rest(pipe) == pieces)
        thread.join()
        #expect(failure.withLock { $0 } == nil)
    }

    @Test func `pieces pass from a task to a thread in order`() async throws {
        let (pipe, result) = (BytePipe(), Promise<Result<[[UInt8]], any Error>>())
        let thread = try SystemThread {
            result.fulfil(
                Result {
                    var read: [[UInt8]] = []
                    while let piece = try pipe.read(checking: {}) { read.append(piece) }
                    return read
                })
        }
        for piece in pieces { try await pipe.put(piece) }
        pipe.finish()
        #expect(try await result.get().get() == pieces)
        thread.join()
    }

    @Test func `pieces pass from a thread to a thread in order`() throws {
        let pipe = BytePipe(capacity: 100)
        let thread = try SystemThread { [pieces] in
            for piece in pieces { _ = try? pipe.write(piece) {} }
            pipe.finish()
        }
        var read: [[UInt8]] = []
        while let piece = try pipe.read(checking: {}) { read.append(piece) }
        thread.join()
        #expect(read == pieces)
    }

    @Test func `a full pipe refuses bytes, and calls when half of it is free`() async throws {
        let (pipe, calls) = (BytePipe(capacity: 1000), Guarded(0))
        pipe.onRoom { calls.withLock { $0 += 1 } }
        let piece = [UInt8](repeating: 1, count: 400)
        try await pipe.put(piece)
        try await pipe.put(piece)
        guard case .taken = offer(piece, to: pipe), case .full = offer(piece, to: pipe) else {
            Issue.record("the pipe takes three pieces")
            return
        }
        #expect(pipe.isStalled)
        _ = try await pipe.next()
        #expect(pipe.isStalled && calls.withLock { $0 } == 0)
        _ = try await pipe.next()
        #expect(!pipe.isStalled && calls.withLock { $0 } == 1)
        pipe.finish()
        #expect(try await rest(pipe) == [piece])
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `offered bytes grow into larger pieces, behind those that wait`() async throws {
        let pipe = BytePipe(capacity: 1 << 20)
        try await pipe.put([0])
        for number in 1...100 { _ = offer([UInt8](repeating: UInt8(number), count: 1000), to: pipe) }
        pipe.finish()
        let pieces = try await rest(pipe)
        #expect(pieces.map(\.count) == [1, 65_000, 35_000])
        #expect(pieces.joined().elementsEqual([0] + (1...100).flatMap { [UInt8](repeating: UInt8($0), count: 1000) }))
    }

    @Test func `a reader gets what waits before the error of the writer`() async throws {
        let pipe = BytePipe(capacity: 10)
        try await pipe.put([1])
        #expect(pipe.finish(Broken()))
        #expect(!pipe.finish())
        #expect(try await pipe.next() == [1])
        await #expect(throws: Broken.self) { try await pipe.next() }
        await #expect(throws: CancellationError.self) { try await pipe.put([2]) }
        guard case .ended = offer([3], to: pipe) else {
            Issue.record("the pipe has ended")
            return
        }
    }

    @Test func `a cut pipe drops what waits, and tells both sides`() async throws {
        let pipe = BytePipe(capacity: 10)
        try await pipe.put([1])
        #expect(pipe.cut(Broken()))
        #expect(!pipe.cut())
        await #expect(throws: Broken.self) { try await pipe.next() }
        await #expect(throws: CancellationError.self) { try await pipe.put([2]) }
    }

    @Test func `a thread that writes learns that the reader is gone`() throws {
        let (pipe, isOpen) = (BytePipe(), Promise<Bool?>())
        let thread = try SystemThread {
            _ = try? pipe.write([1]) {}
            isOpen.fulfil(try? pipe.write([2]) {})
        }
        pipe.cut()
        thread.join()
        #expect(isOpen.value == false)
    }

    @Test func `a check ends the wait of a thread`() {
        let pipe = BytePipe()
        #expect(throws: Broken.self) { _ = try pipe.read { throw Broken() } }
        #expect(throws: Never.self) { _ = try pipe.write([1]) {} }
        #expect(throws: Broken.self) { _ = try pipe.write([2]) { throw Broken() } }
    }

    @Test func `the cancellation of either task cuts the pipe`() async {
        let pipe = BytePipe()
        let reader = Task { try await pipe.next() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { _ = try await reader.value }
        await #expect(throws: CancellationError.self) { try await pipe.put([1]) }

        let other = BytePipe()
        let writer = Task {
            try await other.put([1])
            try await other.put([2])
        }
        writer.cancel()
        await #expect(throws: CancellationError.self) { try await writer.value }
        await #expect(throws: CancellationError.self) { _ = try await other.next() }
    }
}
