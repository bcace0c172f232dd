import CSimdjson
import Foundation
import Measuring
import Settle
import SettleCore

/// The JSON scanner against Foundation's JSONSerialization and simdjson, in the same run: `JSONBenchmark [runs]`.
@main
struct JSONBenchmark {
    static func main() throws {
        let runs = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
        let small = (0..<20_000).map(document)
        try compare("20,000 documents of about 500 bytes", small, runs: runs)
        let large = Array("[".utf8) + small.prefix(10_000).joined(separator: Array(",".utf8)) + Array("]".utf8)
        try compare("one text of \(large.count / 1_000_000) MB", [large], runs: runs)
    }

    static func compare(_ title: String, _ texts: [[UInt8]], runs: Int) throws {
        let measuring = Measuring(runs: runs)
        let bytes = texts.reduce(0) { $0 + $1.count }
        let padded = texts.map { $0 + [UInt8](repeating: 0, count: 64) }
        let data = texts.map { Data($0) }
        print("\n\(title), medians of \(runs) runs, MB/s")
        func row(_ name: String, _ body: () throws -> Void) rethrows {
            let times = try (0..<runs).map { _ in try measuring.seconds(body) }
            print(Measuring.pad(name, 46), Measuring.fixed(Double(bytes) / Measuring.median(times) / 1e6, 0))
        }
        try row("settle: validate") {
            for text in texts { try text.withUnsafeBufferPointer { try JSONValue.validate(utf8: $0) } }
        }
        row("simdjson: parse to its tape") {
            for text in padded {
                text.withUnsafeBytes { raw in
                    let valid = csimdjson_parse(raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count - 64)
                    precondition(valid == 1)
                }
            }
        }
        try row("Foundation: JSONSerialization") {
            for text in data { _ = try JSONSerialization.jsonObject(with: text) }
        }
        try row("settle: JSON value") { for text in texts { _ = try JSONValue(utf8: text) } }
        if texts.count > 1 {
            try row("settle: document body and term") { for text in texts { _ = try DocumentBody(utf8: text) } }
            let hasher = RevisionHasher()
            try row("settle: document body, term and revision id") {
                for text in texts { _ = hasher.revision(of: try DocumentBody(utf8: text)) }
            }
        }
    }

    static func document(_ number: Int) -> [UInt8] {
        Array(
            """
            {"type":"note","number":\(number),"title":"Note number \(number)","created":"2026-01-02T03:04:05Z",\
            "rating":\(Double(number % 50) / 10.0),"done":true,"tags":["alpha","bravo"],\
            "place":{"lat":52.516275,"lon":13.377704},"text":"\(String(repeating: "lorem ipsum dolor sit amet ", count: 10))\
            Grüße, \\"quoted\\""}
            """.utf8)
    }
}
