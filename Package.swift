// swift-tools-version: 6.2

import PackageDescription

/// Settings of every target of ours. Warnings are errors, so that none is ever lived with.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

func room(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// - Parameter exclude: What lies beside the tests and is not Swift.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "siwa",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "siwa", targets: ["siwa"]),
        .library(name: "AppleIdentity", targets: ["AppleIdentity", "KeySets", "JOSE"]),
        .library(name: "AppleIDClient", targets: ["AppleIDClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.6.0"),
        .package(
            url: "https://github.com/apple/swift-configuration.git", from: "1.2.0",
            traits: [.defaults, "YAML"]),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CLibJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"]), .brew(["libjwt"])]),
        .systemLibrary(
            name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        room("JOSE", ["COpenSSL", "CLibJWT"]),
        room("AppleIdentity", ["JOSE"]),
        room("KeySets", ["JOSE", "AppleIdentity"]),
        room("AppleAccounts", []),
        room("AppleIDClient", ["JOSE", "KeySets", asyncHTTPClient, nioCore, nioHTTP1]),
        room(
            "SQLiteStorage",
            ["AppleAccounts", "KeySets", "JOSE", .product(name: "GRDB", package: "GRDB.swift"), logging]),
        room("PostgresStorage", ["CLibPQ", "AppleAccounts", "KeySets", logging]),
        room(
            "SignIn",
            [
                "AppleIDClient", "AppleAccounts", "KeySets", "AppleIdentity", "JOSE", serviceLifecycle,
                logging,
                metrics,
            ]),
        room("ForeignPages", []),
        room(
            "AppleEmulator",
            [
                "JOSE", "ForeignPages", hummingbird, hummingbirdTLS, nioSSL,
                .product(name: "HummingbirdCore", package: "hummingbird"), httpTypes,
                nioCore,
                nioPosix, nioHTTP1, logging, asyncHTTPClient, serviceLifecycle,
            ]),
        room(
            "HTTPAPI",
            [
                "SignIn", "AppleAccounts", "KeySets", "AppleIdentity", "JOSE", "ForeignPages",
                hummingbirdCore,
                nioCore, nioPosix,
                nioHTTP1, logging, coreMetrics, serviceLifecycle,
            ],
            resources: [.embedInCode("OpenAPI/openapi.yaml")]),
        .executableTarget(
            name: "siwa",
            dependencies: [
                "HTTPAPI", "AppleEmulator", "SignIn", "SQLiteStorage", "PostgresStorage", "AppleIDClient",
                "AppleAccounts", "KeySets", "AppleIdentity", "JOSE", "ForeignPages", argumentParser,
                configuration, yams,
                serviceLifecycle, logging,
                unixSignals, coreMetrics, nioCore, nioHTTP1, asyncHTTPClient,
            ],
            swiftSettings: settings),
        .target(name: "TokenMint", dependencies: ["JOSE"], path: "Tests/TokenMint", swiftSettings: settings),
        .target(name: "SiwaBinary", path: "Tests/SiwaBinary", swiftSettings: settings),
        tests("ForeignPagesTests", ["ForeignPages"]),
        tests("JOSETests", ["JOSE", "CLibJWT", "TokenMint"]),
        tests("AppleIdentityTests", ["AppleIdentity", "JOSE", "TokenMint"]),
        tests("KeySetsTests", ["KeySets", "AppleIdentity", "JOSE", "TokenMint"]),
        tests(
            "AppleIDClientTests",
            ["AppleIDClient", "KeySets", "JOSE", asyncHTTPClient, nioCore, nioPosix, nioHTTP1]),
        tests("AppleAccountsTests", ["AppleAccounts", "StorageConformance"]),
        .target(
            name: "StorageConformance", dependencies: ["AppleAccounts"], path: "Tests/StorageConformance",
            swiftSettings: settings),
        tests(
            "SQLiteStorageTests",
            [
                "SQLiteStorage", "StorageConformance", "AppleAccounts", "KeySets",
                .product(name: "GRDB", package: "GRDB.swift"), logging,
            ]),
        .target(
            name: "PostgresCluster", dependencies: [], path: "Tests/PostgresCluster", swiftSettings: settings),
        tests(
            "PostgresStorageTests",
            [
                "PostgresStorage", "PostgresCluster", "StorageConformance", "AppleAccounts", "KeySets",
                logging,
            ]),
        tests(
            "SignInTests",
            [
                "SignIn", "SQLiteStorage", "StorageConformance", "TokenMint", "AppleAccounts",
                "AppleIDClient", "AppleIdentity", "KeySets", "JOSE", serviceLifecycle, logging,
            ]),
        tests(
            "AppleEmulatorTests",
            [
                "AppleEmulator", "JOSE", asyncHTTPClient, nioCore, nioPosix, nioHTTP1, hummingbird,
                hummingbirdCore, httpTypes, logging,
                serviceLifecycle,
            ]),
        tests(
            "HTTPAPITests",
            [
                "HTTPAPI", "ForeignPages", "SignIn", "StorageConformance", "TokenMint", "AppleIDClient",
                "AppleAccounts", "AppleIdentity", "KeySets", "JOSE", coreMetrics, logging, nioCore, nioPosix,
                nioHTTP1,
            ]),
        tests(
            "SiwaCommandTests",
            [
                "siwa", "ForeignPages", "SiwaBinary", "TokenMint", "AppleEmulator", "AppleIDClient",
                "HTTPAPI",
                "SignIn", "SQLiteStorage",
                "PostgresStorage", "PostgresCluster", "AppleAccounts", "AppleIdentity", "KeySets", "JOSE",
                logging, asyncHTTPClient, nioCore,
                nioHTTP1,
                serviceLifecycle,
            ]),
        tests(
            "EndToEndTests",
            [
                "siwa", "SiwaBinary", "TokenMint", "AppleEmulator", "AppleIDClient", "SignIn",
                "SQLiteStorage",
                "PostgresStorage", "PostgresCluster", "HTTPAPI", "AppleAccounts", "AppleIdentity", "KeySets",
                "JOSE", logging, asyncHTTPClient, nioCore,
                nioHTTP1, unixSignals, serviceLifecycle, hummingbird, httpTypes,
            ], exclude: ["Clients"]),
        tests(
            "FixtureTests",
            [
                "SignIn", "SQLiteStorage", "PostgresStorage", "PostgresCluster", "AppleAccounts",
                "StorageConformance", "AppleIdentity", "KeySets",
                "JOSE",
                logging,
            ]),
    ]
)

// What scripts/test builds once more with the address sanitizer: the targets that call C, and their tests. The whole package
// would take too long. They are optimized, because only optimized code frees what it no longer needs in the middle of a
// function; what they depend on is not, because it takes three times as long to compile.
if Context.environment["SIWA_SANITIZED"] != nil {
    let sanitized: Set = [
        "COpenSSL", "CLibJWT", "CLibPQ", "JOSE", "AppleIdentity", "KeySets", "AppleAccounts", "AppleIDClient",
        "SQLiteStorage", "PostgresStorage", "TokenMint", "StorageConformance", "PostgresCluster", "JOSETests",
        "AppleIDClientTests", "SQLiteStorageTests", "PostgresStorageTests",
    ]
    package.products = []
    package.targets.removeAll { !sanitized.contains($0.name) }
    for target in package.targets where target.type != .system {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
    }
}
