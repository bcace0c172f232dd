import Foundation
import Settle
import SettleTesting

/// A condition of a query, and the same question in plain Swift.
indirect enum TypedCondition {
    /// A condition, and whether it holds of an order; `nil` if the order does not have the field.
    case leaf(String, (QueryFields<Order>) -> QueryCondition, (Order) -> Bool?)
    case both(TypedCondition, TypedCondition)
    case either(TypedCondition, TypedCondition)
    case not(TypedCondition)

    func condition(_ fields: QueryFields<Order>) -> QueryCondition {
        switch self {
        case .leaf(_, let condition, _): condition(fields)
        case .both(let left, let right): left.condition(fields) && right.condition(fields)
        case .either(let left, let right): left.condition(fields) || right.condition(fields)
        case .not(let inner): !inner.condition(fields)
        }
    }

    /// Whether it holds. A missing field matches neither a condition nor its negation.
    func holds(_ order: Order, isNegated: Bool = false) -> Bool {
        switch self {
        case .leaf(_, _, let holds): holds(order).map { $0 != isNegated } ?? false
        case .both(let left, let right):
            isNegated
                ? left.holds(order, isNegated: true) || right.holds(order, isNegated: true)
                : left.holds(order) && right.holds(order)
        case .either(let left, let right):
            isNegated
                ? left.holds(order, isNegated: true) && right.holds(order, isNegated: true)
                : left.holds(order) || right.holds(order)
        case .not(let inner): inner.holds(order, isNegated: !isNegated)
        }
    }

    var text: String {
        switch self {
        case .leaf(let text, _, _): text
        case .both(let left, let right): "(\(left.text) && \(right.text))"
        case .either(let left, let right): "(\(left.text) || \(right.text))"
        case .not(let inner): "!\(inner.text)"
        }
    }
}

extension TypedCondition {
    /// A random condition, of leaves of all kinds.
    static func random(_ orders: inout RandomOrders, depth: Int = 2) -> TypedCondition {
        guard depth > 0, orders.random.oneIn(2) else {
            let makers = [values, texts, lists, parts]
            return orders.pick(orders.pick(makers)(&orders))
        }
        let left = random(&orders, depth: depth - 1)
        switch orders.random.below(3) {
        case 0: return .both(left, random(&orders, depth: depth - 1))
        case 1: return .either(left, random(&orders, depth: depth - 1))
        default: return left.isAboutNil ? left : .not(left)
        }
    }

    /// Whether it asks for missing fields, which a negation does not turn round.
    private var isAboutNil: Bool {
        switch self {
        case .leaf(let text, _, _): text.hasSuffix("nil")
        case .both(let left, let right), .either(let left, let right): left.isAboutNil || right.isAboutNil
        case .not(let inner): inner.isAboutNil
        }
    }

    /// Fields of simple types.
    private static func values(_ orders: inout RandomOrders) -> [TypedCondition] {
        let (number, other, text) = (orders.number(), orders.number(), orders.text())
        let (low, high) = (min(number, other), max(number, other))
        let (date, later, link, mark) = (orders.date(), orders.date(), orders.link(), orders.mark())
        let (color, size) = (orders.pick([Order.Color.red, .green]), orders.pick([Order.Size.small, .large]))
        let (wide, price, id) = (Int128(number) << 80, Decimal(number) / 10, "d\(orders.random.below(8))")
        let bytes = Data(orders.list { UInt8($0.random.below(2)) })
        let identified = DocumentID(stringLiteral: id)
        return [
            .leaf("id ==", { $0.id == id }, { $0.id == id }), .leaf("id !=", { $0.id != id }, { $0.id != id }),
            .leaf("id == DocumentID", { $0.id == identified }, { $0.id == id }),
            .leaf("id == nil", { $0.id == nil }, { _ in false }), .leaf("id != nil", { $0.id != nil }, { _ in true }),
            .leaf("id isOne", { $0.id.isOne(of: [id, "d1"]) }, { [id, "d1"].contains($0.id) }),
            .leaf("name == \(text)", { $0.name == text }, { $0.name == text }),
            .leaf("name != \(text)", { $0.name != text }, { $0.name != text }),
            .leaf("note == \(text)", { $0.note == text }, { order in order.note.map { $0 == text } }),
            .leaf("note == nil", { $0.note == nil }, { $0.note == nil }),
            .leaf("note != nil", { $0.note != nil }, { $0.note != nil }),
            .leaf("note isOne nil", { $0.note.isOne(of: [text, nil]) }, { $0.note == text || $0.note == nil }),
            .leaf("count < \(number)", { $0.count < number }, { $0.count < number }),
            .leaf("count >= \(number)", { $0.count >= number }, { $0.count >= number }),
            .leaf("count in \(low)..<\(high)", { $0.count.isIn(low..<high) }, { (low..<high).contains($0.count) }),
            .leaf("count in \(low)...\(high)", { $0.count.isIn(low...high) }, { (low...high).contains($0.count) }),
            .leaf("count isOne", { $0.count.isOne(of: [low, high]) }, { [low, high].contains($0.count) }),
            .leaf("wide <= \(wide)", { $0.wide <= wide }, { $0.wide <= wide }),
            .leaf("ratio > \(number)/4", { $0.ratio > Double(number) / 4 }, { $0.ratio > Double(number) / 4 }),
            .leaf("single == \(number)/2", { $0.single == Float(number) / 2 }, { $0.single == Float(number) / 2 }),
            .leaf("price > \(price)", { $0.price > price }, { $0.price > price }),
            .leaf("done", { $0.done && $0.done }, { $0.done }), .leaf("!done", { !$0.done }, { !$0.done }),
            .leaf("flag == true", { $0.flag == true }, { order in order.flag.map { $0 } }),
            .leaf("flag == nil", { $0.flag == nil }, { $0.flag == nil }),
            .leaf("placed < \(date)", { $0.placed < date }, { $0.placed < date }),
            .leaf("due >= \(date)", { $0.due >= date }, { order in order.due.map { $0 >= date } }),
            .leaf(
                "due in", { $0.due.isIn(min(date, later)...max(date, later)) },
                { order in order.due.map { (min(date, later)...max(date, later)).contains($0) } }),
            .leaf("link ==", { $0.link == link }, { $0.link == link }),
            .leaf("bytes ==", { $0.bytes == bytes }, { $0.bytes == bytes }),
            .leaf("mark ==", { $0.mark == mark }, { $0.mark == mark }),
            .leaf("color ==", { $0.color == color }, { $0.color == color }),
            .leaf("size ==", { $0.size == size }, { order in order.size.map { $0 == size } }),
            .leaf("payment == cash", { $0.payment == .cash }, { $0.payment == .cash }),
            .leaf(
                "payment == card", { $0.payment == .card(brand: text, last4: number) },
                { $0.payment == .card(brand: text, last4: number) }),
            .leaf("level > \(number)", { $0.level > number }, { $0.level > number }),
        ]
    }

    /// Strings.
    private static func texts(_ orders: inout RandomOrders) -> [TypedCondition] {
        let text = orders.text()
        let lower = text.lowercased()
        return [
            .leaf("name hasPrefix \(text)", { $0.name.hasPrefix(text) }, { $0.name.hasPrefix(text) }),
            .leaf("name hasSuffix \(text)", { $0.name.hasSuffix(text) }, { $0.name.hasSuffix(text) }),
            .leaf("name contains \(text)", { $0.name.contains(text) }, { text.isEmpty || $0.name.contains(text) }),
            .leaf("name isEmpty", { $0.name.isEmpty }, { $0.name.isEmpty }),
            .leaf("name matches", { $0.name.matches("^.i") }, { $0.name.dropFirst().hasPrefix("i") }),
            .leaf("name lower == \(text)", { $0.name.lowercased() == text }, { $0.name.lowercased() == lower }),
            .leaf("name lower != \(text)", { $0.name.lowercased() != text }, { $0.name.lowercased() != lower }),
            .leaf(
                "name lower isOne \(text)", { $0.name.lowercased().isOne(of: [text, "MILK"]) },
                { [lower, "milk"].contains($0.name.lowercased()) }),
            .leaf(
                "name lower hasPrefix \(text)", { $0.name.lowercased().hasPrefix(text) },
                { $0.name.lowercased().hasPrefix(lower) }),
            .leaf(
                "name lower contains \(text)", { $0.name.lowercased().contains(text) },
                { text.isEmpty || $0.name.lowercased().contains(lower) }),
            .leaf(
                "name lower hasSuffix \(text)", { $0.name.lowercased().hasSuffix(text) },
                { $0.name.lowercased().hasSuffix(lower) }),
            .leaf(
                "note contains \(text)", { $0.note.contains(text) },
                { order in order.note.map { text.isEmpty || $0.contains(text) } }),
            .leaf("note isEmpty", { $0.note.isEmpty }, { order in order.note.map(\.isEmpty) }),
            .leaf(
                "note lower == \(text)", { $0.note.lowercased() == text },
                { order in order.note.map { $0.lowercased() == lower } }),
            .leaf("[name] contains \(text)", { $0["name"].contains(text) }, { text.isEmpty || $0.name.contains(text) }),
            .leaf("[tags] contains \(text)", { $0["tags"].contains(text) }, { $0.tags.contains(text) }),
        ]
    }

    /// Lists, sets and dictionaries.
    private static func lists(_ orders: inout RandomOrders) -> [TypedCondition] {
        let (number, text, key) = (orders.number(), orders.text(), orders.pick(RandomOrders.keys))
        return [
            .leaf("tags isEmpty", { $0.tags.isEmpty }, { $0.tags.isEmpty }),
            .leaf("tags count == \(number)", { $0.tags.count == number }, { $0.tags.count == number }),
            .leaf("tags count != \(number)", { $0.tags.count != number }, { $0.tags.count != number }),
            .leaf("tags count < \(number)", { $0.tags.count < number }, { $0.tags.count < number }),
            .leaf("tags count <= \(number)", { $0.tags.count <= number }, { $0.tags.count <= number }),
            .leaf("tags count > \(number)", { $0.tags.count > number }, { $0.tags.count > number }),
            .leaf("tags count >= \(number)", { $0.tags.count >= number }, { $0.tags.count >= number }),
            .leaf("tags count in", { $0.tags.count.isIn(1..<3) }, { (1..<3).contains($0.tags.count) }),
            .leaf(
                "tags count isOne", { $0.tags.count.isOne(of: [0, number]) }, { [0, number].contains($0.tags.count) }),
            .leaf("tags contains \(text)", { $0.tags.contains(text) }, { $0.tags.contains(text) }),
            .leaf("tags ==", { $0.tags == [text] }, { $0.tags == [text] }),
            .leaf("tags isOne", { $0.tags.isOne(of: [[], [text]]) }, { [[], [text]].contains($0.tags) }),
            .leaf(
                "others contains \(text)", { $0.others.contains(text) },
                { order in order.others.map { $0.contains(text) } }),
            .leaf("others isEmpty", { $0.others.isEmpty }, { order in order.others.map(\.isEmpty) }),
            .leaf(
                "others count > \(number)", { $0.others.count > number },
                { order in order.others.map { $0.count > number } }),
            .leaf("names contains \(text)", { $0.names.contains(text) }, { $0.names.contains(text) }),
            .leaf("names count", { $0.names.count == number }, { $0.names.count == number }),
            .leaf(
                "matrix contains count", { $0.matrix.contains { $0.count > number } },
                { $0.matrix.contains { $0.count > number } }),
            .leaf(
                "matrix contains contains", { $0.matrix.contains { $0.contains(number) } },
                { $0.matrix.contains { $0.contains(number) } }),
            .leaf(
                "tags contains where", { $0.tags.contains { $0.hasPrefix("a") || $0 == text } },
                { $0.tags.contains { $0.hasPrefix("a") || $0 == text } }),
            .leaf("tags allSatisfy", { $0.tags.allSatisfy { $0 != text } }, { $0.tags.allSatisfy { $0 != text } }),
            .leaf(
                "lines contains", { $0.lines.contains { $0.product == text && $0.amount >= number } },
                { $0.lines.contains { $0.product == text && $0.amount >= number } }),
            .leaf(
                "lines contains labels", { $0.lines.contains { $0.labels.contains(text) || $0.labels.isEmpty } },
                { $0.lines.contains { $0.labels.contains(text) || $0.labels.isEmpty } }),
            .leaf(
                "lines contains note", { $0.lines.contains { $0.note == nil } },
                { $0.lines.contains { $0.note == nil } }),
            .leaf(
                "lines allSatisfy", { $0.lines.allSatisfy { $0.amount > number } },
                { $0.lines.allSatisfy { $0.amount > number } }),
            .leaf(
                "lines[0]", { $0.lines[0].amount == number }, { order in order.lines.first.map { $0.amount == number } }
            ),
            .leaf(
                "scores[\(key)] ==", { $0.scores[key] == number }, { order in order.scores[key].map { $0 == number } }),
            .leaf("scores[\(key)] >", { $0.scores[key] > number }, { order in order.scores[key].map { $0 > number } }),
            .leaf("scores isEmpty", { $0.scores.isEmpty }, { $0.scores.isEmpty }),
            .leaf("rates[\(key)]", { $0.rates[key] == number }, { order in order.rates?[key].map { $0 == number } }),
            .leaf("rates isEmpty", { $0.rates.isEmpty }, { order in order.rates.map(\.isEmpty) }),
            .leaf("byNumber", { $0.byNumber[number] == text }, { order in order.byNumber[number].map { $0 == text } }),
            .leaf("byColor isEmpty", { $0.byColor.isEmpty }, { $0.byColor.isEmpty }),
        ]
    }

    /// Fields of parts.
    private static func parts(_ orders: inout RandomOrders) -> [TypedCondition] {
        let (number, text, address) = (orders.number(), orders.text(), orders.address())
        return [
            .leaf(
                "customer.name == \(text)", { $0.customer.name == text },
                { order in order.customer.map { $0.name == text } }),
            .leaf(
                "customer.age > \(number)", { $0.customer.age > number },
                { order in order.customer?.age.map { $0 > number } }),
            .leaf("customer.age == nil", { $0.customer.age == nil }, { $0.customer?.age == nil }),
            .leaf(
                "customer.address.city", { $0.customer.address.city.hasPrefix(text) },
                { order in order.customer?.address.map { $0.city.hasPrefix(text) } }),
            .leaf("customer == nil", { $0.customer == nil }, { $0.customer == nil }),
            .leaf("customer.address == nil", { $0.customer.address == nil }, { $0.customer?.address == nil }),
            .leaf("home.city", { $0.home.city == text }, { $0.home.city == text }),
            .leaf("home.zip", { $0.home.zip <= number }, { order in order.home.zip.map { $0 <= number } }),
            .leaf("home == ", { $0.home == address }, { $0.home == address }),
            .leaf("[home.city]", { $0["home.city"] == .string(text) }, { $0.home.city == text }),
        ]
    }
}
