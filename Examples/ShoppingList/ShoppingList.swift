import Settle
import SettleServer

/// A shared shopping list on two devices, both edited offline: `swift run ShoppingList` shows a session, and
/// `swift run ShoppingList URL FOLDER` is a list of your own on a server of Settle or CouchDB.
@main
struct ShoppingList {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 2 {
            let list = try await Device(folder: arguments[1], server: HTTPURL(arguments[0]), name: "you")
            return try await Prompt(device: list).run()
        }
        try await Demonstration().run()
    }
}
