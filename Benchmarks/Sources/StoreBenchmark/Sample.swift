import Settle

/// Documents of about 500 bytes, the same in every run.
enum Sample {
    static func id(_ number: Int) -> String {
        let digits = String(number)
        return "doc-" + String(repeating: "0", count: 7 - digits.count) + digits
    }

    /// Writes documents as JSON lines to standard output.
    static func printLines(_ count: Int) {
        for number in 0..<count {
            let members = String(decoding: body(number).dropFirst(), as: UTF8.self)
            print("{\"_id\":\"\(id(number))\",\(members)")
        }
    }

    static func body(_ number: Int, version: Int = 1) -> [UInt8] {
        let words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"]
        var text = ""
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 12345
        while text.utf8.count < 280 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += words[Int(state >> 33) % words.count] + " "
        }
        return Array(
            """
            {"type":"note","number":\(number),"version":\(version),"title":"Note number \(number)",\
            "created":"2026-01-02T03:04:05Z","rating":\(Double(number % 50) / 10.0),"done":\(number % 2 == 0),\
            "tags":["\(words[number % 10])","\(words[number / 10 % 10])"],"place":{"lat":52.5,"lon":13.4},"text":"\(text)"}
            """.utf8)
    }
}
