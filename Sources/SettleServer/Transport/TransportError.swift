/// Why a transport could not begin.
struct TransportError: Error, CustomStringConvertible {
    let description: String
}
