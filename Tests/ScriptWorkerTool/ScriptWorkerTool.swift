import SettleScripting

/// The worker that runs scripts, as `settle script-worker` is one, without the rest of the tool: it starts sooner, and a build of
/// few tests need not compile that.
@main enum ScriptWorkerTool {
    static func main() { ScriptWorker.main(Array(CommandLine.arguments.dropFirst())) }
}
