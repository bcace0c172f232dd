package import Foundation
internal import SettlePlatform

/// The command `openssl`, for keys, signatures and certificates in tests.
package struct OpenSSL {
    /// The folder for its files.
    package let folder: String

    /// Creates a value that works in a folder.
    package init(folder: String) { self.folder = folder }

    /// Runs the command and returns its output.
    @discardableResult
    package func run(_ arguments: String..., input: [UInt8] = []) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = URL(filePath: folder)
        let (given, made) = (Pipe(), Pipe())
        process.standardInput = given
        process.standardOutput = made
        process.standardError = FileHandle.nullDevice
        try process.run()
        given.fileHandleForWriting.write(Data(input))
        try given.fileHandleForWriting.close()
        let output = Array(made.fileHandleForReading.readDataToEndOfFile())
        process.waitForEnd()
        return output
    }

    /// The content of a file in the folder.
    package func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }

    /// Creates a self-signed certificate for this machine: `name.pem`, and its key `name-key.pem`.
    package func makeCertificate(_ name: String) throws {
        try run(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "\(name)-key.pem", "-out",
            "\(name).pem")
    }
}

// MARK: - ProcessEnd

extension Process {
    /// Waits until the process has ended.
    ///
    /// Foundation notices the end of a process by the closing of a socket. A process that another thread starts at
    /// the same moment may inherit that socket, and Foundation then waits for both. This function asks the kernel
    /// instead.
    ///
    /// - Parameter limit: The seconds after which the process is killed, so that it fails its test and does not hold up all others.
    /// - Returns: The exit status like a shell has it: for a signal, 128 plus its number.
    @discardableResult package func waitForEnd(within limit: Double = 600) -> Int32 {
        guard isRunning else { return endedStatus }
        let pid = processIdentifier
        let killer = DispatchWorkItem { kill(pid, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: killer)
        defer { killer.cancel() }
        var information = siginfo_t()
        // The process stays a child, for Foundation to collect.
        while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else {
                // Foundation has collected it.
                killer.cancel()
                waitUntilExit()
                return endedStatus
            }
        }
        #if canImport(Darwin)
        let status = information.si_status
        #else
        let status = information._sifields._sigchld.si_status
        #endif
        return information.si_code == Int32(CLD_EXITED) ? status : 128 + status
    }

    private var endedStatus: Int32 { terminationReason == .exit ? terminationStatus : 128 + terminationStatus }
}
