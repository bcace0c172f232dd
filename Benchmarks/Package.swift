// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Settle", path: "..")],
    targets: [
        .systemLibrary(name: "CFloor", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .target(
            name: "CSimdjson", cxxSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: [.linkedLibrary("simdjson"), .linkedLibrary("stdc++")]),
        .target(name: "Measuring"),
        .executableTarget(name: "HTTPFloor", linkerSettings: [.linkedLibrary("microhttpd")]),
        .executableTarget(
            name: "StoreBenchmark", dependencies: ["CFloor", "Measuring", .product(name: "Settle", package: "Settle")]),
        .executableTarget(
            name: "JSONBenchmark",
            dependencies: ["CSimdjson", "Measuring", .product(name: "Settle", package: "Settle")]),
        .executableTarget(
            name: "ConflictBenchmark",
            dependencies: ["CFloor", "Measuring", .product(name: "Settle", package: "Settle")]),
        .executableTarget(
            name: "ReplicationBenchmark", dependencies: ["Measuring", .product(name: "Settle", package: "Settle")]),
        .executableTarget(
            name: "ViewBenchmark", dependencies: ["Measuring", .product(name: "Settle", package: "Settle")]),
        .executableTarget(
            name: "FindBenchmark", dependencies: ["Measuring", .product(name: "Settle", package: "Settle")]),
        .executableTarget(
            name: "TreeBenchmark", dependencies: ["Measuring", .product(name: "Settle", package: "Settle")]),
    ],
    swiftLanguageModes: [.v6]
)

#if os(Linux)
// It waits by epoll, and looks at processes in /proc.
package.targets += [
    .systemLibrary(name: "CEpoll"),
    .executableTarget(
        name: "DeviceBenchmark", dependencies: ["CEpoll", "Measuring", .product(name: "SettleCore", package: "Settle")]),
]
#endif

// A warning is an error, as in the package.
for target in package.targets where !["CEpoll", "CFloor", "CSimdjson", "HTTPFloor"].contains(target.name) {
    target.swiftSettings = [.treatAllWarnings(as: .error)]
}
