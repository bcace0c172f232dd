/// Why a row of a response violates the protocol.
struct WireFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
