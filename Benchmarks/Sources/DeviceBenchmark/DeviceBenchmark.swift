import Foundation

/// Behaves like many devices that sync with a server of the CouchDB API; `--help` explains it.
@main
struct DeviceBenchmark {
    static func main() {
        do {
            let options = try DeviceOptions(CommandLine.arguments.dropFirst())
            if options.wantsHelp {
                print(DeviceOptions.help)
                exit(0)
            }
            try raiseLimit(to: rlim_t(options.devices + options.active + 300))
            let server = try Server(url: options.url, user: options.user, password: options.password)
            Loop.begin { exit(await run(options, server)) }
            Loop.executor.run()
        } catch is Server.BadAddress {
            fail("--url needs an address as http://127.0.0.1:5984")
        } catch {
            fail("\(error)")
        }
    }

    @Loop
    private static func run(_ options: DeviceOptions, _ server: Server) async -> Int32 {
        do {
            let report = try await Course(options, server).run()
            print(options.writesJSON ? "\(report.json)" : report.text)
            return report.isGood ? 0 : 1
        } catch {
            fail("\(error)")
        }
    }

    private static func raiseLimit(to wanted: rlim_t) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur >= wanted else {
            throw DeviceOptions.Mistake(
                description: "\(wanted) open files are needed, the limit is \(limit.rlim_max); raise it by ulimit -n")
        }
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("DeviceBenchmark: \(reason)\n".utf8))
        exit(2)
    }
}
