// swift-tools-version: 6.2

import Foundation
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
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

func module(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

/// What several test targets need.
func testHelper(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

/// - Parameter exclude: Files beside the tests that are not Swift.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "siwa",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "siwa", targets: ["siwa"]),
        .library(
            name: "AppleIdentity",
            targets: ["AppleIdentity", "KeySets", "JOSE", "StrictJSON", "Cryptography"]),
        .library(name: "AppleIDClient", targets: ["AppleIDClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.6.0"),
        .package(
            url: "https://github.com/apple/swift-configuration.git", from: "1.2.0",
            traits: [.defaults, "YAML"]),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.0"),
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

        // The ground floor: knows nothing of Apple, and no module above it.
        module("Encodings", []),
        module("Cryptography", ["COpenSSL"]),
        module("StrictJSON", ["Encodings"]),
        module("JOSE", ["Encodings", "Cryptography", "StrictJSON", "COpenSSL", "CLibJWT"]),
        module("Certificates", ["Encodings", "Cryptography", "JOSE", "COpenSSL"]),
        module("WebOrigins", ["Encodings"]),
        module("PageTemplates", ["Encodings", mustache]),
        // Bounds of every HTTP client of this program.
        module("OutgoingHTTP", [asyncHTTPClient, nioCore, nioHTTP1]),
        // Spans of this program, and their way to a collector.
        module("TraceExport", ["Encodings", "StrictJSON", tracing, logging, metrics, serviceLifecycle]),
        module(
            "HTTPEngine",
            ["Encodings", hummingbirdCore, nioCore, nioPosix, nioHTTP1, logging, serviceLifecycle]),

        // Apple's tokens, keys and endpoints.
        module("AppleIdentity", ["Encodings", "Cryptography", "StrictJSON", "JOSE"]),
        module("KeySets", ["Encodings", "JOSE", "AppleIdentity"]),
        module("AppAttestation", ["Encodings", "Cryptography", "JOSE", "Certificates"]),
        module(
            "AppleIDClient",
            [
                "Encodings", "StrictJSON", "JOSE", "KeySets", "OutgoingHTTP", "TraceExport", asyncHTTPClient,
                nioCore, nioHTTP1,
                metrics, tracing,
            ]),

        // Accounts, and where they are kept.
        module("AppleAccounts", ["Encodings", "Cryptography", "AppAttestation"]),

        // Events as others get them: JSON, and security event tokens.
        module("SecurityEvents", ["Encodings", "Cryptography", "StrictJSON", "JOSE", "AppleAccounts"]),

        // OAuth 2.0 on top of the accounts.
        module(
            "AuthorizationServer",
            ["Encodings", "Cryptography", "StrictJSON", "JOSE", "AppAttestation", "AppleAccounts"]),

        module(
            "SQLTables",
            ["AppleAccounts", "AppAttestation", "AuthorizationServer", "KeySets", "Cryptography"]),
        module(
            "SQLiteStorage",
            [
                "AppleAccounts", "AppAttestation", "AuthorizationServer", "SQLTables", "KeySets",
                "Cryptography", grdb, sqlite, logging,
            ]),
        module(
            "PostgresStorage",
            [
                "AppleAccounts", "AppAttestation", "AuthorizationServer", "SQLTables", "KeySets",
                "Cryptography", "CLibPQ", logging,
            ]),

        // Queues of commands before the transactions, and the feed of account events.
        module(
            "Commits",
            ["AppleAccounts", "AuthorizationServer", "TraceExport", serviceLifecycle, metrics, tracing]),

        // What the service does, and how it is asked.
        module(
            "SignIn",
            [
                "Commits", "AppleIDClient", "AppleAccounts", "AppAttestation", "KeySets", "AppleIdentity",
                "JOSE", "Certificates", "StrictJSON", "Cryptography", "Encodings", serviceLifecycle, logging,
                metrics,
            ]),
        module(
            "OAuth",
            [
                "AuthorizationServer", "Commits", "AppleAccounts", "AppAttestation", "AppleIdentity",
                "SecurityEvents", "SignIn", "KeySets", "JOSE",
                "StrictJSON", "Cryptography", "Encodings", serviceLifecycle, logging, metrics,
            ]),
        // Events to receivers: webhooks, and what else pushes.
        module(
            "EventDelivery",
            [
                "SecurityEvents", "SignIn", "Commits", "AppleAccounts", "JOSE", "StrictJSON", "Cryptography",
                "Encodings", serviceLifecycle, logging, metrics,
            ]),
        module(
            "HTTPAPI",
            [
                "Inspection", "HTTPEngine", "EventDelivery", "OAuth", "AuthorizationServer", "SecurityEvents",
                "SignIn", "Commits",
                "AppleAccounts", "AppAttestation", "KeySets", "AppleIdentity", "StrictJSON", "Cryptography",
                "Encodings", "TraceExport", "WebOrigins", nioCore, nioPosix, nioHTTP1, logging, coreMetrics,
                serviceLifecycle, tracing,
            ],
            resources: [.embedInCode("OpenAPI/openapi.yaml")]),
        // The checks of one token, for `siwa verify` and the console.
        module(
            "Inspection",
            [
                "SecurityEvents", "AuthorizationServer", "AppleAccounts", "AppAttestation", "KeySets",
                "AppleIdentity", "JOSE", "StrictJSON", "Cryptography", "Encodings",
            ]),
        // Pages for developers and operators, above the interface.
        module(
            "Console",
            [
                "Inspection", "HTTPAPI", "HTTPEngine", "EventDelivery", "OAuth", "AuthorizationServer",
                "SecurityEvents",
                "SignIn", "Commits", "AppleAccounts", "AppAttestation", "KeySets", "AppleIdentity", "JOSE",
                "StrictJSON", "Cryptography", "Encodings", "WebOrigins", "PageTemplates", nioCore, nioPosix,
                nioHTTP1, logging, coreMetrics, serviceLifecycle,
            ],
            resources: [.embedInCode("Templates"), .embedInCode("Assets")]),
        module(
            "EmulatorServer",
            [
                "PageTemplates",
                "JOSE", "StrictJSON", "Cryptography", "Encodings", "WebOrigins", hummingbird, hummingbirdCore,
                httpTypes,
                nioCore, nioHTTP1, logging, serviceLifecycle,
            ],
            resources: [.embedInCode("Templates")]),
        module(
            "AppleEmulator",
            [
                "PageTemplates",
                "EmulatorServer", "JOSE", "StrictJSON", "Cryptography", "Encodings", "WebOrigins",
                hummingbird,
                hummingbirdTLS, nioSSL, httpTypes, nioCore, nioPosix, nioHTTP1, logging, asyncHTTPClient,
                serviceLifecycle,
            ],
            resources: [.embedInCode("Templates")]),
        module(
            "GoogleEmulator",
            [
                "PageTemplates",
                "EmulatorServer", "JOSE", "StrictJSON", "Cryptography", "Encodings", "WebOrigins",
                hummingbird,
                httpTypes, nioCore, nioHTTP1, logging, asyncHTTPClient, serviceLifecycle,
            ],
            resources: [.embedInCode("Templates")]),
        module(
            "ReceiverEmulator",
            [
                "PageTemplates",
                "EmulatorServer", "Certificates", "JOSE", "StrictJSON", "Cryptography", "Encodings",
                "WebOrigins", hummingbird, hummingbirdTLS, httpTypes, nioCore, nioHTTP1, nioSSL, logging,
                asyncHTTPClient, serviceLifecycle,
            ],
            resources: [.embedInCode("Templates")]),
        // The client of `siwa login`. It signs in at any server, and imports nothing of ours.
        module(
            "OAuthLogin",
            [
                "JOSE", "StrictJSON", "Cryptography", "Encodings", "OutgoingHTTP", "WebOrigins",
                asyncHTTPClient,
                nioCore, nioPosix, nioHTTP1,
            ]),
        .executableTarget(
            name: "siwa",
            dependencies: [
                "OAuthLogin",
                "Console", "Inspection", "HTTPAPI", "HTTPEngine", "AppleEmulator", "GoogleEmulator",
                "ReceiverEmulator",
                "EmulatorServer",
                "SignIn", "Commits",
                "SQLiteStorage", "PostgresStorage", "AppleIDClient",
                "OAuth", "AuthorizationServer", "SecurityEvents", "EventDelivery", "AppleAccounts", "KeySets",
                "AppleIdentity", "AppAttestation", "JOSE", "Certificates",
                "StrictJSON",
                "Cryptography",
                "Encodings", "OutgoingHTTP", "TraceExport", "WebOrigins", argumentParser, configuration, yams,
                serviceLifecycle, logging, tracing,
                unixSignals, coreMetrics, metrics, nioCore, nioPosix, nioHTTP1, nioSSL, asyncHTTPClient,
            ],
            swiftSettings: settings),

        // The Swift backend of docs/integrate.md, built as its readers build it.
        .executableTarget(
            name: "ExampleBackend",
            dependencies: [
                hummingbird, asyncHTTPClient, nioCore, nioHTTP1, serviceLifecycle, logging,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "docs/backends/swift", exclude: ["Package.swift"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),

        // Tests and what they share.
        testHelper("TokenMint", ["JOSE", "StrictJSON"]),
        testHelper("AttestationMint", ["Cryptography", "Encodings", "JOSE", "COpenSSL"]),
        testHelper("TestSupport", ["KeySets", logging, metrics]),
        testHelper("SiwaBinary"),
        testHelper("ScriptedHTTP", [hummingbird, logging, nioCore, nioPosix]),
        testHelper(
            "StorageConformance",
            [
                "AppleAccounts", "AppAttestation", "AuthorizationServer", "SQLTables", "TestSupport",
                "Cryptography", "Encodings",
            ]),
        testHelper(
            "OAuthSamples",
            ["AuthorizationServer", "AppAttestation", "AppleAccounts", "Cryptography", "Encodings"]),
        testHelper("OAuthFixtures", ["TestSupport"]),
        testHelper("PostgresCluster", ["TestSupport"]),
        tests("DocumentationTests", ["TestSupport"]),
        tests("EncodingsTests", ["Encodings"]),
        tests("CryptographyTests", ["Cryptography", "Encodings"]),
        tests("StrictJSONTests", ["StrictJSON"]),
        tests("WebOriginsTests", ["WebOrigins"]),
        tests("PageTemplatesTests", ["PageTemplates"]),
        tests(
            "TraceExportTests",
            [
                "TraceExport", "Encodings", "StrictJSON", "TestSupport", tracing, logging, coreMetrics,
                serviceLifecycle,
            ]),
        tests(
            "JOSETests",
            [
                "JOSE", "StrictJSON", "Cryptography", "Encodings", "COpenSSL", "CLibJWT", "TokenMint",
                "TestSupport",
            ]),
        tests("AppleIdentityTests", ["AppleIdentity", "JOSE", "StrictJSON", "TokenMint"]),
        tests(
            "AppAttestationTests",
            [
                "AppAttestation", "AttestationMint", "TestSupport", "Certificates", "JOSE", "Cryptography",
                "Encodings",
            ]),
        tests(
            "KeySetsTests",
            [
                "KeySets", "AppleIdentity", "JOSE", "StrictJSON", "Encodings", "TokenMint", "TestSupport",
            ]),
        tests(
            "AppleIDClientTests",
            [
                "AppleIDClient", "ScriptedHTTP", "TestSupport", "KeySets", "JOSE", "StrictJSON", "Encodings",
                asyncHTTPClient, nioCore, nioPosix, nioHTTP1,
            ]),
        tests(
            "AppleAccountsTests",
            ["AppleAccounts", "Cryptography", "Encodings", "StorageConformance", "TestSupport"]),
        tests(
            "SecurityEventsTests",
            [
                "SecurityEvents", "AppleAccounts", "Cryptography", "Encodings", "JOSE", "StrictJSON", "TestSupport",
            ]),
        tests(
            "ConsoleTests",
            [
                "Console", "Inspection", "OAuthSamples", "AppAttestation", "HTTPAPI", "HTTPEngine",
                "EventDelivery", "OAuth", "AuthorizationServer",
                "SecurityEvents", "SignIn", "Commits", "AppleAccounts", "KeySets", "AppleIdentity", "JOSE",
                "SQLiteStorage", "StrictJSON", "Cryptography", "Encodings", "PageTemplates", "TestSupport",
                "TokenMint", "StorageConformance", "WebOrigins", logging, nioCore, nioPosix, nioHTTP1,
            ]),
        tests(
            "EventDeliveryTests",
            [
                "EventDelivery", "SecurityEvents", "SignIn", "Commits", "AuthorizationServer",
                "AppleAccounts", "KeySets", "StorageConformance",
                "TestSupport", "JOSE", "StrictJSON", "Cryptography", "Encodings", logging, serviceLifecycle,
                coreMetrics,
            ]),
        tests(
            "AuthorizationServerTests",
            [
                "AuthorizationServer", "OAuthFixtures", "AppAttestation", "AppleAccounts", "JOSE",
                "StrictJSON", "Cryptography", "Encodings", "StorageConformance", "TestSupport",
            ]),
        tests(
            "OAuthTests",
            [
                "Commits", "OAuth", "OAuthSamples", "AuthorizationServer", "SecurityEvents",
                "StorageConformance", "TestSupport", "TokenMint", "SignIn", "AppAttestation", "AppleAccounts",
                "AppleIdentity", "KeySets", "JOSE", "StrictJSON",
                "Cryptography", "Encodings", logging,
            ]),
        tests(
            "SQLiteStorageTests",
            [
                "SQLiteStorage", "StorageConformance", "TestSupport", "AppleAccounts", "AuthorizationServer",
                "SQLTables", "KeySets", "Cryptography", grdb, logging,
            ]),
        tests(
            "PostgresStorageTests",
            [
                "PostgresStorage", "PostgresCluster", "StorageConformance", "TestSupport", "AppleAccounts",
                "AppAttestation", "AuthorizationServer",
                "SQLTables", "KeySets", logging,
            ]),
        tests(
            "CommitsTests",
            [
                "Commits", "SQLiteStorage", "StorageConformance", "TestSupport", "AppleAccounts",
                "AuthorizationServer", "TraceExport", serviceLifecycle, metrics, tracing,
            ]),
        tests(
            "SignInTests",
            [
                "Commits", "SignIn", "SQLiteStorage", "StorageConformance", "TestSupport", "TokenMint",
                "AppleAccounts", "AppAttestation",
                "AttestationMint", "Certificates", "AppleIDClient",
                "AppleIdentity", "KeySets", "JOSE", "StrictJSON", "Cryptography", "Encodings",
                serviceLifecycle,
                logging,
            ]),
        tests(
            "AppleEmulatorTests",
            [
                "AppleEmulator", "AppAttestation", "Certificates", "EmulatorServer", "ScriptedHTTP",
                "TestSupport", "JOSE", "StrictJSON",
                "Cryptography",
                "Encodings",
                asyncHTTPClient, nioCore,
                nioPosix, nioHTTP1, hummingbird, hummingbirdCore, httpTypes, logging, serviceLifecycle,
            ]),
        tests(
            "GoogleEmulatorTests",
            [
                "GoogleEmulator", "EmulatorServer", "ScriptedHTTP", "TestSupport", "JOSE", "StrictJSON",
                "Cryptography",
                "Encodings", asyncHTTPClient, nioCore, nioHTTP1, hummingbird, httpTypes, logging,
            ]),
        tests(
            "ReceiverEmulatorTests",
            [
                "ReceiverEmulator", "EmulatorServer", "ScriptedHTTP", "TestSupport", "JOSE", "StrictJSON",
                "Cryptography", "Encodings", asyncHTTPClient, nioCore, nioHTTP1, nioSSL, hummingbird,
                httpTypes,
                logging,
            ]),
        tests(
            "OAuthLoginTests",
            [
                "OAuthLogin", "ScriptedHTTP", "TestSupport", "TokenMint", "JOSE", "StrictJSON",
                "Cryptography", "Encodings",
                asyncHTTPClient, nioCore, nioPosix, nioHTTP1, hummingbird, httpTypes, logging,
            ]),
        tests(
            "HTTPEngineTests",
            ["HTTPEngine", "TestSupport", nioCore, nioPosix, nioHTTP1, logging, serviceLifecycle]),
        tests(
            "HTTPAPITests",
            [
                "HTTPAPI", "HTTPEngine", "OAuth", "OAuthSamples", "AuthorizationServer", "WebOrigins",
                "EventDelivery", "SecurityEvents",
                "SignIn", "Commits",
                "StorageConformance", "TestSupport", "TokenMint", "AttestationMint", "AppleIDClient",
                "AppAttestation", "AppleAccounts", "AppleIdentity", "Certificates", "KeySets", "JOSE",
                "StrictJSON",
                "Cryptography",
                "Encodings", "TraceExport",
                coreMetrics, logging, nioCore, nioPosix, nioHTTP1, tracing,
            ]),
        tests(
            "SiwaCommandTests",
            [
                "siwa", "Console", "Inspection", "WebOrigins", "SiwaBinary", "TestSupport",
                "TokenMint", "AttestationMint", "AppleEmulator", "EmulatorServer", "AppAttestation",
                "AppleIDClient", "OAuthLogin", "ScriptedHTTP", "HTTPAPI",
                "SignIn", "OAuth", "SQLiteStorage", "PostgresStorage", "PostgresCluster", "AppleAccounts",
                "AuthorizationServer", "SecurityEvents", "EventDelivery", "HTTPEngine", "AppleIdentity",
                "KeySets", "JOSE", "Certificates", "StrictJSON", "Cryptography", "Encodings", logging,
                argumentParser, asyncHTTPClient, nioCore, nioPosix, nioHTTP1, nioSSL, serviceLifecycle,
                hummingbird,
                httpTypes, "TraceExport",
            ]),
        tests(
            "EndToEndTests",
            [
                "siwa", "ExampleBackend", "SiwaBinary", "TestSupport", "TokenMint", "AppleEmulator",
                "GoogleEmulator", "EmulatorServer", "ScriptedHTTP", "EventDelivery", "SecurityEvents",
                "WebOrigins",
                "AppleIDClient", "SignIn", "SQLiteStorage", "TraceExport",
                "PostgresStorage", "PostgresCluster", "HTTPAPI", "HTTPEngine", "AuthorizationServer",
                "AppleAccounts", "AppleIdentity", "KeySets",
                "JOSE", "StrictJSON", "Cryptography", "Encodings", logging, asyncHTTPClient, nioCore,
                nioPosix,
                nioHTTP1,
                unixSignals, serviceLifecycle, hummingbird, httpTypes,
            ], exclude: ["Clients"]),
        tests(
            "OAuthFixtureTests",
            [
                "siwa", "OAuthFixtures", "HTTPAPI", "HTTPEngine", "OAuth", "AuthorizationServer", "SignIn",
                "Commits",
                "SQLiteStorage",
                "StorageConformance", "TestSupport", "TokenMint", "AppleAccounts", "AppleIdentity", "KeySets",
                "JOSE", "StrictJSON", "Cryptography", "Encodings", logging, nioCore, nioPosix,
                serviceLifecycle,
            ]),
        tests(
            "FixtureTests",
            [
                "Commits", "SignIn", "SQLiteStorage", "PostgresStorage", "PostgresCluster", "TestSupport",
                "AppleAccounts",
                "StorageConformance", "AppleIdentity", "KeySets", "JOSE", "StrictJSON", "Cryptography",
                "Encodings", logging,
            ]),
    ]
)

// What scripts/test builds once more with the address sanitizer: the targets that call C or read memory by
// pointers, what they stand on, and their tests. The whole package would take too long, and so would anything
// with an HTTP library: its C alone is 400 files of cryptography. They are optimized, because only optimized
// code frees what it no longer needs in the middle of a function; what they depend on is not, because it
// takes three times as long to compile.
if Context.environment["SIWA_SANITIZED"] != nil {
    let sanitized: Set = [
        "COpenSSL", "CLibJWT", "CLibPQ", "Encodings", "Cryptography", "StrictJSON", "JOSE",
        "Certificates", "AppAttestation", "AttestationMint", "AppAttestationTests",
        "AppleIdentity", "KeySets", "AppleAccounts", "AuthorizationServer", "SQLTables", "SQLiteStorage",
        "PostgresStorage", "TokenMint", "TestSupport", "StorageConformance", "PostgresCluster",
        "EncodingsTests", "StrictJSONTests", "CryptographyTests", "JOSETests", "SQLiteStorageTests",
        "PostgresStorageTests",
    ]
    package.products = []
    package.targets.removeAll { !sanitized.contains($0.name) }
    for target in package.targets where target.type != .system {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
    }
}

// With SIWA_LOCKED every package, also one that only another package needs, has the version that was tested. For
// all other builds, and for packages that depend on this one, `from:` above decides.
if Context.environment["SIWA_LOCKED"] != nil {
    let list = try String(
        contentsOfFile: "\(Context.packageDirectory)/scripts/package-versions.txt", encoding: .utf8)
    package.dependencies = list.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
        let parts = line.split(separator: " ").map(String.init)
        let version = Version(stringLiteral: parts[1])
        return parts[0].hasSuffix("/swift-configuration.git")
            ? .package(url: parts[0], exact: version, traits: [.defaults, "YAML"])
            : .package(url: parts[0], exact: version)
    }
}
