/// The text of one document in an input, and where it begins.
struct Record: Equatable, Sendable {
    let bytes: [UInt8]
    /// The line of its first byte, from 1.
    let line: Int
    /// The column of its first byte, from 1.
    let column: Int
    /// What is wrong with it before it is even read.
    var problem: String?
}
