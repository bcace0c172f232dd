internal import SettlePlatform

/// Reads and writes complete frames on a descriptor.
struct Descriptor: Sendable {
    let number: Int32

    /// Writes all bytes; returns whether that succeeded.
    func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { raw in
            var offset = 0
            while offset < raw.count {
                let written = systemWrite(number, raw.baseAddress?.advanced(by: offset), raw.count - offset)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                offset += written
            }
            return true
        }
    }

    /// Reads a frame without its length; `nil` at the end or for a frame that is too large.
    func readFrame() -> [UInt8]? {
        guard let head = read(4) else { return nil }
        let length = Int(ScriptFrame.number(head, at: 0))
        guard length <= ScriptFrame.largest else { return nil }
        return read(length)
    }

    private func read(_ count: Int) -> [UInt8]? {
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let number = systemRead(number, buffer.baseAddress?.advanced(by: filled), count - filled)
                if number < 0, errno == EINTR { continue }
                guard number > 0 else {
                    isWhole = false
                    return
                }
                filled += number
            }
        }
        return isWhole ? bytes : nil
    }

    /// Waits until there is something to read, or the other side has closed; `false` on a timeout.
    func waitToRead(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        while true {
            let code = poll(&entry, 1, milliseconds)
            if code < 0, errno == EINTR { continue }
            return code != 0
        }
    }

    /// Closes it.
    func close() { systemClose(number) }
}

private func systemWrite(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(number, bytes, count)
}

private func systemRead(_ number: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(number, bytes, count)
}

private func systemClose(_ number: Int32) { _ = close(number) }
