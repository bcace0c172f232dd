internal import SettleCommands

@main
struct SettleTool {
    static func main() { CommandLineTool.main() }
}
