import Testing

@testable import SettleCore
@testable import SettleDatabase

@Suite struct `Errors of encoding to JSONValue` {
    /// The coding path of the error, names and indexes joined by slashes.
    private func path(_ value: some Encodable) -> String? {
        do {
            _ = try JSONValue(encoding: value)
            return nil
        } catch EncodingError.invalidValue(_, let context) {
            return context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "/")
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, .signalingNaN])
    func `name the float that JSONValue does not have`(value: Double) {
        #expect(path(value) == "")
        #expect(path(Float(value)) == "")
        #expect(path([1, value]) == "1")
        #expect(path([Float(value)]) == "0")
        #expect(path(CodingSample.One(value: value)) == "value")
        #expect(path(CodingSample.One(value: Float(value))) == "value")
        #expect(path(["a": [CodingSample.One(value: [0, value])]]) == "a/0/value/1")
    }

    @Test func `name a value that encodes nothing`() {
        #expect(path(CodingSample.Silent()) == "")
    }

    @Test func `name a place with two kinds of container`() {
        struct Torn: Encodable {
            func encode(to encoder: any Encoder) throws {
                _ = encoder.container(keyedBy: JSONCodingKey.self)
                var list = encoder.unkeyedContainer()
                try list.encode(1)
            }
        }
        struct Reversed: Encodable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(1)
                var object = encoder.container(keyedBy: JSONCodingKey.self)
                try object.encode(1, forKey: "a")
            }
        }
        #expect(path(Torn()) == "")
        #expect(path(["a": [Torn()]]) == "a/0")
        #expect(path([Reversed()]) == "0")
    }

    @Test func `refuse what is nested past the limit`() {
        final class Link: Encodable {
            var next: Link?
        }
        let ring = Link()
        ring.next = ring
        defer { ring.next = nil }
        let components = path(ring)?.split(separator: "/")
        #expect(components?.count == JSONLimits.depth + 1)
        #expect(components?.allSatisfy { $0 == "next" } == true)
    }

    @Test func `are those of the value when it throws its own`() {
        struct Own: Encodable {
            func encode(to encoder: any Encoder) throws { throw JSONError(.typeMismatch, "mine") }
        }
        #expect(throws: JSONError.self) { try JSONValue(encoding: ["a": Own()]) }
    }
}
