import SettleHTTP
import Testing

@testable import SettleServer

struct RequestTargetTests {
    @Test(arguments: [
        ("/", []), ("//a//b/", ["a", "b"]), ("/a%2Fb/c+d", ["a/b", "c d"]), ("/a%zz%4", ["a%zz%4"]), ("/a#b/c", ["a"]),
        ("/a?b/c", ["a"]),
    ])
    func `a path is split before it is decoded`(text: String, segments: [String]) {
        #expect(RequestTarget(text).segments == segments)
    }

    @Test func `parameters are separated by ampersands and semicolons`() {
        let query = RequestTarget("/x?a=1;b&&%63=d+e%26#f").query.items
        #expect(query.map(\.name) == ["a", "b", "c"])
        #expect(query.map(\.value) == ["1", "", "d e&"])
    }
}
