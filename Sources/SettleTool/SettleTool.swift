import SettleCommands

@main
struct SettleTool {
    static func main() {}
}
