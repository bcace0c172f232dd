import Foundation
import SettlePlatform
import Testing

@testable import SettleReplication

#if os(Linux)

/// The kernel's notifications.
@Suite(.timeLimit(.minutes(5))) struct NetworkWatchTests {
    /// A message as the kernel writes it: length, type, the rest of the header, then family and length of the prefix.
    private func message(_ type: UInt16, prefix: UInt8, length: UInt32 = 28) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: length) { bytes += $0 }
        withUnsafeBytes(of: type) { bytes += $0 }
        bytes += [UInt8](repeating: 0, count: 10) + [2, prefix]
        return bytes + [UInt8](repeating: 0, count: max(0, Int(length) - bytes.count))
    }

    @Test func `a default route that comes or goes is distinguished from other messages`() {
        let (link, newRoute, oldRoute): (UInt16, UInt16, UInt16) = (16, 24, 25)
        for (bytes, isWayOut) in [
            ([], false), ([1, 2, 3], false), (message(newRoute, prefix: 0), true), (message(oldRoute, prefix: 0), true),
            (message(newRoute, prefix: 24), false), (message(link, prefix: 0), false),
            (message(newRoute, prefix: 24, length: 29) + [0, 0, 0] + message(oldRoute, prefix: 0), true),
            (message(link, prefix: 0, length: 3) + message(newRoute, prefix: 0), false),
            (Array(message(newRoute, prefix: 0).prefix(17)), false),
        ] { #expect(RouteSocket.changesWayOut(bytes[...]) == isWayOut, "\(bytes)") }
    }

    @Test func `addresses are equal until one changes`() {
        #expect(NetworkAddresses.now() == NetworkAddresses.now())
    }

    /// An interface is switched on in a separate network namespace, which this process's other threads do not see.
    @Test func `an interface that comes up is reported`() async throws {
        let heard: Result<Bool?, Failure> = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.switchOn()) }
        }
        switch heard {
        case .success(let told): #expect(told != nil)
        // Without permission for a namespace, there may be notifications of the real network.
        case .failure(let failure): #expect(failure.code == EPERM && RouteSocket() != nil, "\(failure)")
        }
    }

    private struct Failure: Error {
        let call: String
        let code = errno
    }

    private static func switchOn() -> Result<Bool?, Failure> {
        // CLONE_NEWNET; Swift does not know the call, which is Linux's own.
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let call = dlsym(nil, "unshare") else { return .failure(Failure(call: "dlsym")) }
        guard unsafeBitCast(call, to: Unshare.self)(0x4000_0000) == 0 else { return .failure(Failure(call: "unshare")) }
        guard let route = RouteSocket() else { return .failure(Failure(call: "socket")) }
        // struct ifreq: the name in 16 bytes, then the flags: up and running.
        var request = Array("lo".utf8) + [UInt8](repeating: 0, count: 38)
        (request[16], request[17]) = (0x41, 0)
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        let code = request.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { ioctl(descriptor, 0x8914, $0) }
        }
        guard code == 0 else { return .failure(Failure(call: "ioctl")) }
        return .success(route.wait())
    }
}
#endif
