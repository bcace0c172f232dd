import Settle

/// Documents of about 500 bytes, the same in every run.
enum ReplicationSample {
    static func documentID(_ number: Int) throws -> DocumentID {
        let digits = String(number)
        return try DocumentID(validating: "doc-" + String(repeating: "0", count: 7 - digits.count) + digits)
    }

    static func body(_ number: Int) throws -> DocumentBody {
        let words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"]
        var text = ""
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 12345
        while text.utf8.count < 330 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += words[Int(state >> 33) % words.count] + " "
        }
        return try DocumentBody(
            parsing: """
                {"type":"note","number":\(number),"title":"Note number \(number)","created":"2026-01-02T03:04:05Z",\
                "done":\(number % 2 == 0),"tags":["\(words[number % 10])"],"text":"\(text)"}
                """)
    }
}
