// swift-tools-version: 6.2
import PackageDescription

/// Every target is compiled in Swift 6 mode with complete concurrency checking and these upcoming features on. A warning
/// is an error.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The commit of the checkout, which `make` gives to the build of the tool; other builds do without it.
let commit = (Context.environment["SETTLE_COMMIT"] ?? "").filter { $0.isLetter || $0.isNumber || $0 == "-" }

let package = Package(
    name: "Settle",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Settle", targets: ["Settle"]),
        .library(name: "SettleUI", targets: ["SettleUI"]),
        .library(name: "SettleCore", targets: ["SettleCore"]),
        // What storage engines and transports are written with.
        .library(name: "SettleDatabase", targets: ["SettleDatabase"]),
        .library(name: "SettleReplication", targets: ["SettleReplication"]),
        .library(name: "SettleServer", targets: ["SettleServer"]),
        .library(name: "SettleTesting", targets: ["SettleTesting"]),
        .executable(name: "settle", targets: ["SettleTool"]),
        .executable(name: "settle-simulate", targets: ["SettleSimulate"]),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"]), .brew(["pcre2"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        // Apple's systems have the same as a framework.
        .systemLibrary(
            name: "CJavaScriptCore", pkgConfig: "javascriptcoregtk-4.1",
            providers: [.apt(["libjavascriptcoregtk-4.1-dev"])]),

        .target(name: "SettlePlatform", dependencies: ["CCrypto"], swiftSettings: strict),
        .target(name: "SettleCore", dependencies: ["SettlePlatform"], swiftSettings: strict),
        .target(
            name: "SettleDatabase",
            dependencies: [
                "SettlePlatform", "SettleCore", "CSQLite", "CZlib", "CPCRE2",
            ],
            swiftSettings: strict),
        .target(
            name: "SettleReplication",
            dependencies: ["SettlePlatform", "SettleCore", "SettleDatabase", "CCurl", "CCrypto"],
            swiftSettings: strict),
        .target(
            name: "SettleViews", dependencies: ["SettlePlatform", "SettleCore", "SettleDatabase", "CSQLite"],
            swiftSettings: strict),
        .target(
            name: "Settle", dependencies: ["SettleCore", "SettleDatabase", "SettleReplication", "SettleViews"],
            swiftSettings: strict),
        // SwiftUI's side of `Settle`; empty where SwiftUI is not.
        .target(name: "SettleUI", dependencies: ["Settle"], swiftSettings: strict),
        .target(
            name: "SettleTesting",
            dependencies: ["SettlePlatform", "SettleCore", "SettleDatabase", "SettleReplication", "Settle"],
            swiftSettings: strict),
        .target(
            name: "SettleScripting",
            dependencies: [
                "SettlePlatform", "SettleCore", "SettleDatabase",
                .target(name: "CJavaScriptCore", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .target(
            name: "SettleServer",
            dependencies: [
                "SettlePlatform", "SettleCore", "SettleDatabase", "SettleReplication", "SettleScripting",
                "SettleViews",
                "CMicroHTTPD", "CCrypto",
            ],
            swiftSettings: strict),
        .target(
            name: "CSettleBuild",
            cSettings: [.treatAllWarnings(as: .error)]
                + (commit.isEmpty ? [] : [.define("SETTLE_COMMIT", to: "\"\(commit)\"")])),
        .target(
            name: "SettleCommands",
            dependencies: [
                "SettlePlatform", "SettleCore", "SettleDatabase", "SettleReplication", "SettleViews", "Settle",
                "SettleServer", "SettleScripting", "CSettleBuild",
            ],
            swiftSettings: strict),
        .executableTarget(name: "SettleTool", dependencies: ["SettleCommands"], swiftSettings: strict),
        // Tries random schedules on real databases; apart from the tool, which needs nothing of it.
        .executableTarget(
            name: "SettleSimulate", dependencies: ["SettlePlatform", "Settle", "SettleTesting"], swiftSettings: strict),

        // Bounds how many tests run at a time, also in a plain `swift test`.
        .target(name: "CTestWidth", path: "Tests/CTestWidth", cSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "SettleCoreTests", dependencies: ["SettleCore", "CZlib", "CTestWidth"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "SettleDatabaseTests",
            dependencies: ["SettlePlatform", "Settle", "SettleTesting", "CSQLite", "CrashTool"],
            exclude: ["Fixtures"], swiftSettings: strict),
        // ICU (`libicu-dev`), which only the tests of the order of strings compare with.
        .target(
            name: "CICU", path: "Tests/CICU", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
        .testTarget(
            name: "CollationTests",
            dependencies: [
                "SettleCore", "SettleDatabase", "SettleTesting",
                .target(name: "CICU", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SettleReplicationTests",
            dependencies: ["Settle", "SettleReplication", "SettleServer", "SettleTesting"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "SettleCommandsTests",
            dependencies: [
                "SettlePlatform", "SettleCommands", "Settle", "SettleServer", "SettleScripting", "SettleTesting",
                "SettleTool", "SettleSimulate",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SettleServerTests",
            dependencies: ["SettlePlatform", "SettleServer", "Settle", "SettleTesting", "SettleTool"],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "SettleScriptingTests", dependencies: ["SettleScripting", "SettleTool"], swiftSettings: strict),
        .testTarget(
            name: "SettleViewsTests", dependencies: ["SettleViews", "Settle", "SettleTesting"], swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),

        // An app's sources: they import what an app imports, beside names of other libraries, and are isolated to the main actor.
        .target(name: "OtherLibraries", path: "Tests/OtherLibraries", swiftSettings: strict),
        .testTarget(name: "NameTests", dependencies: ["Settle", "OtherLibraries"], swiftSettings: strict),
        .testTarget(
            name: "IsolationTests", dependencies: ["Settle", "SettleTesting"],
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),

        // Two devices that share a list and edit it offline: `swift run ShoppingList`.
        .executableTarget(
            name: "ShoppingList", dependencies: ["Settle", "SettleServer"], path: "Examples/ShoppingList",
            swiftSettings: strict),

        // What the fuzzers feed, shared with a short test: `make fuzz`.
        .target(name: "FuzzTargets", dependencies: ["Settle"], path: "Fuzz/Targets", swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"], swiftSettings: strict),

        // Writes until it is killed, and checks what is left: `make crash-test`.
        .executableTarget(
            name: "CrashTool", dependencies: ["Settle", "CSQLite"], path: "Tests/CrashTool", swiftSettings: strict),
    ]
)
