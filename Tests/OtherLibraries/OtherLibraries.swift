// Names that apps have from other libraries, as these declare them. The right side says where each comes from.

public protocol View {}  // SwiftUI
public struct Text: View { public init() {} }  // SwiftUI
public struct TextField: View { public init() {} }  // SwiftUI
public struct List: View { public init() {} }  // SwiftUI
public struct Binding<Value> { public init() {} }  // SwiftUI
@propertyWrapper public struct State<Value> {  // SwiftUI
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
@propertyWrapper public struct Query<Element> {  // SwiftData, as a macro
    public var wrappedValue: [Element] { [] }
    public init() {}
}
public protocol PersistentModel {}  // SwiftData
public struct Schema { public init() {} }  // SwiftData
public struct Predicate<Input> { public init() {} }  // Foundation
public struct Selector { public init(_ name: String) {} }  // ObjectiveC
public struct Attachment<Value> { public init() {} }  // Testing
public struct HTTPClient { public init() {} }  // AsyncHTTPClient
public struct HTTPRequest { public init() {} }  // HTTPTypes
public struct HTTPResponse { public init() {} }  // HTTPTypes
public final class Store<State, Action> { public init() {} }  // ComposableArchitecture
public struct Effect<Action> { public init() {} }  // ComposableArchitecture
public enum JSON { case null }  // SwiftyJSON
public struct ValidationError: Error { public init() {} }  // ArgumentParser
public struct Validation { public init() {} }  // Vapor
public protocol ParsableCommand {}  // ArgumentParser
public struct Credentials { public init() {} }  // Auth0
public struct RetryPolicy { public init() {} }  // many
public struct Collation { public init() {} }  // SQLite wrappers
public struct Row { public init() {} }  // GRDB
public struct Column { public init() {} }  // GRDB
public struct Statement { public init() {} }  // GRDB
public struct Request { public init() {} }  // Vapor
public struct Response { public init() {} }  // Vapor
public struct User { public init() {} }  // apps
public struct Item { public init() {} }  // apps
public struct Person { public init() {} }  // apps
