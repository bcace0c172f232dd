import Foundation
import Settle
import SettleTesting

/// A model with fields of all kinds that apps have. It is also compiled in a module that is isolated to the main actor.
struct Order: DocumentModel, Identifiable, Equatable {
    struct Address: Codable, Equatable, Sendable {
        var city: String
        var zip: Int?
    }

    struct Customer: Codable, Equatable, Sendable {
        var name: String
        var age: Int?
        var address: Address?
    }

    struct Line: Codable, Equatable, Sendable {
        var product: String
        var amount: Int
        var labels: [String] = []
        var note: String?
    }

    enum Color: String, Codable, Sendable {
        case red
        case green
        case blue
    }

    enum Size: Int, Codable, Sendable {
        case small = 1
        case large
    }

    enum Payment: Codable, Equatable, Sendable {
        case cash
        case card(brand: String, last4: Int)
    }

    @propertyWrapper
    struct Trimmed: Codable, Equatable, Sendable {
        var wrappedValue: String
    }

    var id: String?
    var name: String
    var note: String?
    var count: Int
    var wide: Int128
    var ratio: Double
    var single: Float
    var price: Decimal
    var done: Bool
    var flag: Bool?
    var placed: Date
    var due: Date?
    var link: URL
    var bytes: Data
    var mark: UUID
    var color: Color
    var size: Size?
    var payment: Payment
    var customer: Customer?
    var home: Address
    var lines: [Line]
    var tags: [String]
    var others: [String]?
    var names: Set<String>
    var matrix: [[Int]]
    var scores: [String: Int]
    var rates: [String: Int]?
    var byNumber: [Int: String]
    var byColor: [Color: Int]
    var span: ClosedRange<Int>
    @Trimmed var title: String
    var level = 1
    /// Fails for most orders.
    var share: Int { 100 / lines[count].amount }

    enum CodingKeys: String, CodingKey {
        case id, name, note
        case count = "n.r"
        case wide, ratio, single, price, done, flag, placed, due, link, bytes, mark, color, size, payment
        case customer = "client"
        case home, lines, tags, others, names, matrix, scores, rates, byNumber, byColor, span, title, level
    }
}

/// Random orders, of few values each, so that conditions often match.
nonisolated struct RandomOrders {
    static let texts = [
        "", "a", "A", "ab", "Milk", "milk", "a.b", "(50% off)", "Ärger", "ärger", "x+y", "straße", "k\u{212A}",
    ]
    static let keys = ["x", "y.z", "$w"]

    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func text() -> String { pick(Self.texts) }

    mutating func number() -> Int { random.below(5) - 1 }

    mutating func date() -> Date { Date(timeIntervalSince1970: TimeInterval(random.below(4)) * 86_400.25) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[random.below(elements.count)] }

    mutating func maybe<Value>(_ value: Value) -> Value? { random.oneIn(3) ? nil : value }

    mutating func list<Value>(_ value: (inout RandomOrders) -> Value) -> [Value] {
        (0..<random.below(4)).map { _ in value(&self) }
    }

    mutating func link() -> URL { URL(fileURLWithPath: "/\(random.below(3))") }

    mutating func mark() -> UUID {
        let last = UInt8(random.below(3))
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last))
    }

    mutating func address() -> Order.Address { Order.Address(city: text(), zip: maybe(number())) }

    mutating func line() -> Order.Line {
        Order.Line(product: text(), amount: number(), labels: list { $0.text() }, note: maybe(text()))
    }

    mutating func order(_ id: String) -> Order {
        Order(
            id: id, name: text(), note: maybe(text()), count: number(), wide: Int128(number()) << 80,
            ratio: Double(number()) / 4, single: Float(number()) / 2, price: Decimal(number()) / 10,
            done: random.oneIn(2), flag: maybe(random.oneIn(2)), placed: date(), due: maybe(date()), link: link(),
            bytes: Data(list { UInt8($0.random.below(2)) }), mark: mark(), color: pick([.red, .green, .blue]),
            size: maybe(pick([.small, .large])),
            payment: random.oneIn(2) ? .cash : .card(brand: text(), last4: number()),
            customer: maybe(Order.Customer(name: text(), age: maybe(number()), address: maybe(address()))),
            home: address(), lines: list { $0.line() }, tags: list { $0.text() },
            others: maybe(list { $0.text() }), names: Set(list { $0.text() }),
            matrix: list { $0.list { $0.number() } },
            scores: Dictionary(list { ($0.pick(Self.keys), $0.number()) }) { first, _ in first },
            rates: maybe(Dictionary(list { ($0.pick(Self.keys), $0.number()) }) { first, _ in first }),
            byNumber: Dictionary(list { ($0.number(), $0.text()) }) { first, _ in first },
            byColor: random.oneIn(2) ? [.red: number()] : [:], span: number()...5, title: text(), level: number())
    }
}
