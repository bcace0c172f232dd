/// Why a row of an answer is not what the protocol says.
struct WireFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
