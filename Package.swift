// swift-tools-version: 6.2
import PackageDescription

/// Whether stand-ins take the place of Apple's libraries, so that what Apple's systems use runs on Linux: `make apple-doubles`.
let doubles = Context.environment["SETTLE_APPLE_DOUBLES"] == "1"

/// Every target is compiled in Swift 6 mode with complete concurrency checking and these upcoming features on. A warning
/// is an error.
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (doubles ? [.define("SETTLE_APPLE")] : [])

/// The settings of the targets in which the tests spend most of their time. `Scripts/swift-debug.sh` has the compiler optimize these,
/// with assertions as in debug.
let hot =
    strict
    + (Context.environment["SETTLE_OPTIMIZED"] == "1"
        ? [.unsafeFlags(["-O", "-Xfrontend", "-assert-config", "-Xfrontend", "Debug"], .when(configuration: .debug))]
        : [])

/// What Xcode sets for a new app: isolation to the main actor by default, and the features that go with it.
let appDefaults: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

/// The code of articles that is also compiled as a new app is, and run so: links in `Tests/IsolatedSnippets`.
let isolatedSnippets = ["GettingStarted", "SwiftUILists", "EverydayTasks", "SchemaChanges", "Queries"]

/// The commit of the checkout, which `make` gives to the build of the tool; other builds do without it.
let commit = (Context.environment["SETTLE_COMMIT"] ?? "").filter { $0.isLetter || $0.isNumber || $0 == "-" }

/// What the core needs of Linux and not of Apple's systems, which have frameworks for it.
func core(_ name: String) -> [Target.Dependency] {
    doubles ? [] : [.target(name: name, condition: .when(platforms: [.linux]))]
}

/// What the server and the tests need where they run, which is not on a phone.
func host(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(platforms: [.linux, .macOS])) }

/// The PostgreSQL of tests that run on every engine; not with stand-ins, which stand for systems without it.
let postgres: [Target.Dependency] = ["PostgresTesting"]

/// The files of tests that `Scripts/test-sources.py` named, for a build that runs few of the tests.
let testSources = (Context.environment["SETTLE_TEST_SOURCES"] ?? "").split(separator: " ").map(String.init)

/// What few tests of a target need, such as the programs that they start. A build of those in `testSources` does without it.
func fewTests(_ names: String...) -> [Target.Dependency] {
    testSources.isEmpty ? names.map { .byName(name: $0) } : []
}

/// The stand-in of a framework.
func double(_ name: String) -> [Target.Dependency] { doubles ? [.target(name: name)] : [] }

let package = Package(
    name: "Settle",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Settle", targets: ["Settle"]),
        .library(name: "SettleUI", targets: ["SettleUI"]),
        .library(name: "SettleCore", targets: ["SettleCore"]),
        .library(name: "SettleQuery", targets: ["SettleQuery"]),
        // What storage engines and transports are written with.
        .library(name: "SettleDatabase", targets: ["SettleDatabase"]),
        .library(name: "SettleHTTP", targets: ["SettleHTTP"]),
        .library(name: "SettleReplication", targets: ["SettleReplication"]),
        .library(name: "SettleServer", targets: ["SettleServer"]),
        // Databases in PostgreSQL, for servers and programs that ask for it.
        .library(name: "SettlePostgres", targets: ["SettlePostgres"]),
        // Databases of other products, for apps that move to Settle.
        .library(name: "SettleImport", targets: ["SettleImport"]),
        .library(name: "SettleTesting", targets: ["SettleTesting"]),
        .executable(name: "settle", targets: ["SettleTool"]),
        .executable(name: "settle-simulate", targets: ["SettleSimulate"]),
    ],
    targets: [
        // Without pkg-config, which would bring Homebrew's into a build for a phone. Apple's SDKs and Debian have both.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"]), .brew(["pcre2"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // The tool's alone. Apple's SDKs and Debian have it.
        .systemLibrary(name: "CLibEdit", providers: [.apt(["libedit-dev"])]),

        .target(name: "SettlePlatform", dependencies: ["CZlib"], swiftSettings: hot),
        .target(name: "SettleCrypto", dependencies: core("CCrypto") + double("CommonCrypto"), swiftSettings: hot),
        .target(name: "SettleCore", dependencies: ["SettlePlatform", "SettleCrypto"], swiftSettings: hot),
        // What asks a JSON value: selectors, patterns, the order of values, JSON Schema.
        .target(
            name: "SettleQuery", dependencies: ["SettlePlatform", "SettleCore"] + core("CPCRE2"),
            swiftSettings: hot),
        .target(
            name: "SettleDatabase",
            dependencies: ["SettlePlatform", "SettleCrypto", "SettleCore", "SettleQuery", "CSQLite"],
            // Optimizing it takes longer than few tests save.
            swiftSettings: testSources.isEmpty ? hot : strict),
        // HTTP: messages and addresses for clients and servers, and the system's client.
        .target(
            name: "SettleHTTP",
            dependencies: ["SettlePlatform", "SettleCrypto", "SettleCore", "SettleDatabase"] + core("CCurl"),
            swiftSettings: strict),
        // BLIP over WebSockets: the messages of Couchbase Mobile.
        .target(
            name: "SettleMobile",
            dependencies: ["SettlePlatform", "SettleCrypto", "SettleCore", "SettleDatabase"],
            swiftSettings: strict),
        .target(
            name: "SettleReplication",
            dependencies: [
                "SettlePlatform", "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP",
                "SettleMobile",
            ]
                + core("CCurl") + core("CCrypto") + double("CryptoKit"),
            swiftSettings: strict),
        .target(
            name: "SettleViews",
            dependencies: [
                "SettlePlatform", "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase", "CSQLite",
            ],
            swiftSettings: strict),
        .target(
            name: "Settle",
            dependencies: [
                "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP", "SettleReplication", "SettleViews",
            ],
            swiftSettings: strict),
        // Files and dumps of other products, for the tool and for apps that move to Settle.
        .target(
            name: "SettleImport",
            dependencies: [
                "SettlePlatform", "SettleCrypto", "SettleCore", "SettleDatabase", "SettleMobile", "CSQLite",
            ],
            swiftSettings: strict),
        // SwiftUI's side of `Settle`; empty where SwiftUI is not.
        .target(name: "SettleUI", dependencies: ["Settle"], swiftSettings: strict),
        .target(
            name: "SettleTesting",
            dependencies: [
                "SettlePlatform", "SettleCore", "SettleDatabase", "SettleHTTP", "SettleReplication", "Settle",
            ],
            swiftSettings: strict),
        // Loads JavaScriptCore when a worker starts. Apple's systems have it as a framework.
        .target(name: "CJavaScriptCore", cSettings: [.treatAllWarnings(as: .error)]),
        // JavaScript that each context of scripts begins with, as a file that stands in the program.
        .target(name: "CScriptPrelude", exclude: ["prelude.js"], cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "SettleScripting",
            dependencies: [
                "CScriptPrelude", "SettlePlatform", "SettleCore", "SettleDatabase",
                .target(name: "CJavaScriptCore", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .target(
            name: "SettlePostgres",
            dependencies: ["SettlePlatform", "SettleCore", "SettleDatabase", host("CPostgres")],
            swiftSettings: strict),
        // The console of the server, as files that stand in the program: `built` is made of `web`.
        .target(name: "CConsole", exclude: ["web", "built"], cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "SettleServer",
            dependencies: [
                "CConsole", "SettlePlatform", "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase",
                "SettleHTTP", "SettleImport", "SettleMobile", "SettleReplication", "SettleScripting",
                "SettleViews", host("CMicroHTTPD"), host("CCrypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "CSettleBuild",
            cSettings: [.treatAllWarnings(as: .error)]
                + (commit.isEmpty ? [] : [.define("SETTLE_COMMIT", to: "\"\(commit)\"")])),
        .target(
            name: "SettleCommands",
            dependencies: [
                "SettlePlatform", "SettleCrypto", "SettleCore", "SettleQuery", "SettleDatabase", "SettleHTTP",
                "SettleReplication", "SettleViews", "Settle", "SettleImport",
                "SettleServer", "SettleScripting", "SettlePostgres", "CSettleBuild", host("CLibEdit"),
            ],
            swiftSettings: strict),
        .executableTarget(name: "SettleTool", dependencies: ["SettleCommands"], swiftSettings: strict),
        // Tries random schedules on real databases; apart from the tool, which needs nothing of it.
        .executableTarget(
            name: "SettleSimulate", dependencies: ["SettlePlatform", "Settle", "SettleTesting", "SettleFleet"],
            swiftSettings: strict),
        // A server with devices of several kinds, among them models of Couchbase Lite's replicator.
        .target(
            name: "SettleFleet",
            dependencies: [
                "SettlePlatform", "SettleCrypto", "SettleCore", "SettleDatabase", "SettleHTTP", "SettleMobile",
                "SettleReplication", "SettleServer", "SettleTesting", "Settle",
            ],
            swiftSettings: hot),

        .testTarget(
            name: "SettleMobileTests", dependencies: ["SettleMobile", "SettlePlatform", "SettleTesting"],
            swiftSettings: strict),
        // Bounds how many tests run at a time, also in a plain `swift test`.
        .target(name: "CTestWidth", path: "Tests/CTestWidth", cSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "SettlePlatformTests", dependencies: ["SettlePlatform", "SettleTesting", "CTestWidth"],
            swiftSettings: strict),
        .testTarget(
            name: "SettleCryptoTests", dependencies: ["SettleCrypto", "SettleTesting", host("CCrypto")],
            swiftSettings: strict),
        .testTarget(
            name: "SettleCoreTests", dependencies: ["SettleCore", "SettleTesting", "CZlib", "CTestWidth"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "SettleQueryTests", dependencies: ["SettleQuery", "Settle", "SettleTesting"], swiftSettings: strict),
        .testTarget(
            name: "SettleDatabaseTests",
            dependencies: ["SettlePlatform", "Settle", "SettleTesting", "CSQLite"] + fewTests("CrashTool") + postgres,
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "SettleImportTests",
            dependencies: ["SettlePlatform", "SettleImport", "Settle", "SettleTesting", "CrashTool"],
            swiftSettings: strict),
        // ICU (`libicu-dev`), which only the tests of the order of strings compare with.
        .target(
            name: "CICU", path: "Tests/CICU", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
        .testTarget(
            name: "CollationTests",
            dependencies: [
                "SettleCore", "SettleQuery", "SettleTesting",
                .target(name: "CICU", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SettleReplicationTests",
            dependencies: ["Settle", "SettleHTTP", "SettleReplication", "SettleServer", "SettleTesting"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "SettleCommandsTests",
            dependencies: [
                "SettlePlatform", "SettleHTTP", "SettleCommands", "Settle", "SettleServer", "SettleScripting",
                "SettleTesting", "SettleTool", "SettleSimulate",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SettleServerTests",
            dependencies: [
                "SettleHTTP", "SettleMobile", "SettlePlatform", "SettleServer", "Settle", "SettleTesting",
                "ScriptWorkerTool",
            ] + fewTests("SettleFleet"),
            exclude: ["Fixtures"], swiftSettings: strict),
        // The workers of tests that run scripts.
        .executableTarget(
            name: "ScriptWorkerTool", dependencies: ["SettleScripting"], path: "Tests/ScriptWorkerTool",
            swiftSettings: strict),
        .testTarget(
            name: "SettleScriptingTests", dependencies: ["SettleScripting", "SettleTesting", "ScriptWorkerTool"],
            swiftSettings: strict),
        .testTarget(
            name: "SettleViewsTests", dependencies: ["SettleViews", "Settle", "SettleTesting"] + postgres,
            swiftSettings: strict),
        // The PostgreSQL that `Scripts/test.sh` starts, for tests that run on every engine.
        .target(
            name: "PostgresTesting", dependencies: ["SettlePostgres", "Settle", "SettleDatabase", "SettleTesting"],
            path: "Tests/PostgresTesting", swiftSettings: strict),
        .testTarget(
            name: "SettlePostgresTests",
            dependencies: [
                "SettlePlatform", "SettlePostgres", "Settle", "SettleDatabase", "SettleTesting", "PostgresTesting",
            ],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", dependencies: ["SettleTesting"], swiftSettings: hot),

        // An app's sources: they import what an app imports, beside names of other libraries, and are isolated to the main actor.
        .target(name: "OtherLibraries", path: "Tests/OtherLibraries", swiftSettings: strict),
        .testTarget(name: "NameTests", dependencies: ["Settle", "OtherLibraries"], swiftSettings: strict),
        .testTarget(
            name: "IsolationTests",
            dependencies: ["Settle", "SettleTesting"] + isolatedSnippets.map { .byName(name: "Isolated" + $0) },
            swiftSettings: strict + appDefaults),

        // Two devices that share a list and edit it offline: `swift run ShoppingList`.
        .executableTarget(
            name: "ShoppingList", dependencies: ["Settle", "SettleServer"], path: "Examples/ShoppingList",
            swiftSettings: strict),

        // What the fuzzers feed, shared with a short test: `make fuzz`.
        .target(
            name: "FuzzTargets",
            dependencies: ["SettlePlatform", "SettleCore", "SettleDatabase", "SettleMobile", "SettleImport"],
            path: "Fuzz/Targets", swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "SettleTesting"], swiftSettings: strict),

        // Writes until it is killed, and checks what is left: `make crash-test`.
        .executableTarget(
            name: "CrashTool", dependencies: ["Settle", "SettleImport", "SettleTesting", "CSQLite"],
            path: "Tests/CrashTool", swiftSettings: strict),
    ]
)

package.targets += isolatedSnippets.map { name in
    .executableTarget(
        name: "Isolated" + name, dependencies: ["Settle", "SettleUI"], path: "Tests/IsolatedSnippets/" + name,
        swiftSettings: strict + appDefaults)
}

// With stand-ins, the core and its tests alone. Tests of the transport are those that FoundationNetworking can run.
if doubles {
    let core: Set = [
        "CSQLite", "CCrypto", "CZlib", "CTestWidth", "SettlePlatform", "SettleCrypto", "SettleCore", "SettleQuery",
        "SettleDatabase", "SettleHTTP", "SettleMobile", "SettleReplication", "SettleViews", "SettleImport", "Settle",
        "SettleTesting",
        "CrashTool",
        "SettlePlatformTests",
        "SettleCryptoTests", "SettleCoreTests", "SettleQueryTests",
        "SettleMobileTests", "SettleDatabaseTests", "SettleViewsTests", "CPostgres", "SettlePostgres",
        "PostgresTesting",
    ]
    package.products = core.subtracting(["CTestWidth", "CrashTool"]).filter {
        $0.hasPrefix("Settle") && !$0.hasSuffix("Tests")
    }
    .map { .library(name: $0, targets: [$0]) }
    package.targets = package.targets.filter { core.contains($0.name) }
    package.targets += [
        .target(
            name: "CommonCrypto", path: "Tests/AppleDoubles/CommonCrypto", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("crypto")]),
        .target(
            name: "CryptoKit", dependencies: ["CCrypto"], path: "Tests/AppleDoubles/CryptoKit", swiftSettings: strict),
        .testTarget(
            name: "URLSessionTests", dependencies: ["Settle", "SettleHTTP", "SettleReplication", "SettleTesting"],
            path: "Tests/SettleReplicationTests",
            sources: [
                "HTTP/TransportTests.swift", "HTTP/HTTPFaultTests.swift", "HTTP/ConnectionReuseTests.swift",
                "HTTP/Support/Corelibs.swift", "HTTP/Support/RawPeer.swift",
                "HTTP/Support/RawServer.swift", "Authentication/SealedBytesTests.swift",
                "Mobile/PassivePeerTests.swift",
            ],
            swiftSettings: strict),
    ]
}

if !testSources.isEmpty {
    for target in package.targets where target.type == .test && target.sources == nil {
        let folder = "Tests/\(target.name)/"
        target.sources = testSources.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
    }
    package.targets.removeAll { $0.type == .test && $0.sources?.isEmpty == true }
}
