/// Why a transport could not begin.
struct ListenerError: Error, CustomStringConvertible {
    let description: String
}
