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

/// Products of other packages, by package.
let products = [
    "GRDB.swift": "GRDB GRDBSQLite", "Yams": "Yams", "async-http-client": "AsyncHTTPClient",
    "hummingbird": "Hummingbird HummingbirdCore HummingbirdTLS", "swift-argument-parser": "ArgumentParser",
    "swift-configuration": "Configuration", "swift-crypto": "Crypto CryptoExtras",
    "swift-distributed-tracing": "Tracing", "swift-http-types": "HTTPTypes", "swift-log": "Logging",
    "swift-metrics": "CoreMetrics Metrics", "swift-mustache": "Mustache",
    "swift-nio": "NIOCore NIOPosix NIOHTTP1", "swift-nio-ssl": "NIOSSL",
    "swift-service-lifecycle": "ServiceLifecycle UnixSignals",
]

/// A module: what it needs beside the needs of its wing.
struct Module {
    let name: String
    let needs: String
    var resources: [Resource] = []
    var exclude: [String] = []

    init(_ name: String, _ needs: String = "", resources: [Resource] = [], exclude: [String] = []) {
        (self.name, self.needs, self.resources, self.exclude) = (name, needs, resources, exclude)
    }
}

/// A folder of `Sources` or `Tests` with the modules in it. Needs are modules, wings (all their modules), system
/// libraries and products of other packages.
struct Wing {
    let name: String
    /// Wings whose modules those of this one may need, beside Kit and each other. An arrow that is not here ends the
    /// build, and so does an import of what a module does not need (scripts/build-options).
    let arrows: [String]
    /// What each of its modules needs.
    let needs: String
    let modules: [Module]

    init(_ name: String, arrows: [String] = [], needs: String = "", _ modules: [Module]) {
        (self.name, self.arrows, self.needs, self.modules) = (name, arrows, needs, modules)
    }
}

/// What an interface over HTTP needs.
let interface =
    "Encodings Cryptography StrictJSON HTTPEngine AppAttestation AppleIdentity KeySets Domain Service"
    + " NIOCore NIOPosix NIOHTTP1 Logging CoreMetrics ServiceLifecycle"
/// What a server or client needs that is built on the libraries of others.
let server =
    "Hummingbird HTTPTypes AsyncHTTPClient NIOCore NIOPosix NIOHTTP1 Logging ServiceLifecycle"
/// What tests of a wing need of the wings below it, and of other packages.
let support =
    "TestSupport Encodings Cryptography StrictJSON JOSE Logging CoreMetrics Metrics ServiceLifecycle"
/// What tests of the whole program need.
let all =
    "\(support) \(server) Composition siwa siwa-dev Kit Apple Domain Stores Service HTTP Fakes SiwaBinary TokenMint ScriptedHTTP"
    + " PostgresCluster"

let wings = [
    // Bytes, formats, HTTP and traces. Knows nothing of Apple. Embedded by others: each needs as little as it can.
    Wing(
        "Kit",
        [
            Module("Encodings"),
            Module("Cryptography", "COpenSSL"),
            Module("StrictJSON", "Encodings"),
            Module("JOSE", "Encodings Cryptography StrictJSON COpenSSL CLibJWT"),
            Module("Certificates", "Encodings Cryptography JOSE COpenSSL"),
            Module("PageTemplates", "Encodings Mustache"),
            // Bounds of every HTTP client of this program.
            Module("OutgoingHTTP", "AsyncHTTPClient NIOCore NIOHTTP1"),
            // Spans of this program, and their way to a collector.
            Module("TraceExport", "Encodings StrictJSON Tracing Logging Metrics ServiceLifecycle"),
            Module(
                "HTTPEngine", "Encodings HummingbirdCore NIOCore NIOPosix NIOHTTP1 Logging ServiceLifecycle"),
        ]),
    // Apple's tokens, keys and endpoints. Embedded by others too.
    Wing(
        "Apple", needs: "Encodings JOSE",
        [
            Module("AppleIdentity", "Cryptography StrictJSON"),
            Module("KeySets", "AppleIdentity"),
            Module("AppAttestation", "Cryptography Certificates"),
            Module(
                "AppleIDClient",
                "StrictJSON KeySets OutgoingHTTP TraceExport AsyncHTTPClient NIOCore NIOHTTP1 Metrics Tracing"
            ),
        ]),
    // Accounts, OAuth 2.0 on top of them, and events as others get them: no input or output, and no clock.
    Wing(
        "Domain", arrows: ["Apple"], needs: "Encodings Cryptography StrictJSON JOSE AppAttestation",
        [
            Module("AppleAccounts"),
            Module("AuthorizationServer", "AppleAccounts"),
        ]),
    // Where accounts are stored.
    Wing(
        "Stores", arrows: ["Domain", "Apple"],
        needs: "Cryptography AppAttestation KeySets AppleAccounts AuthorizationServer Logging",
        [
            Module("SQLTables"),
            Module("SQLiteStorage", "SQLTables GRDB GRDBSQLite"),
            Module("PostgresStorage", "SQLTables CLibPQ"),
        ]),
    // What the service does.
    Wing(
        "Service", arrows: ["Domain", "Apple"],
        needs:
            "Encodings Cryptography StrictJSON JOSE Certificates TraceExport AppAttestation AppleIdentity KeySets"
            + " Domain ServiceLifecycle Logging Metrics Tracing",
        [
            // Queues of commands before the transactions, and the feed of account events.
            Module("Commits"),
            Module("SignIn", "AppleIDClient Commits"),
            Module("OAuth", "Commits SignIn"),
            // Events to receivers: webhooks, and what else pushes.
            Module("EventDelivery", "Commits SignIn"),
            // The checks of one token, for `siwa verify` and the console.
            Module("Inspection"),
        ]),
    // The interface, and the pages for users.
    Wing(
        "HTTP", arrows: ["Service", "Domain", "Apple"],
        [
            Module(
                "HTTPAPI", "\(interface) TraceExport Tracing",
                resources: [.embedInCode("OpenAPI/openapi.yaml")])
        ]),
    // Pages for developers and operators, above the interface.
    Wing(
        "Console", arrows: ["HTTP", "Service", "Domain", "Apple"],
        [
            Module(
                "Console", "\(interface) HTTP JOSE PageTemplates",
                resources: [.embedInCode("Templates"), .embedInCode("Assets")])
        ]),
    // Apple, Google and a receiver of events, for development and tests. They import nothing that verifies.
    Wing(
        "Fakes",
        needs:
            "Encodings Cryptography StrictJSON JOSE PageTemplates \(server) HummingbirdTLS NIOSSL",
        [
            Module("EmulatorServer", "HummingbirdCore", resources: [.embedInCode("Templates")]),
            Module("AppleEmulator", "EmulatorServer", resources: [.embedInCode("Templates")]),
            Module("GoogleEmulator", "EmulatorServer", resources: [.embedInCode("Templates")]),
            Module("ReceiverEmulator", "EmulatorServer Certificates", resources: [.embedInCode("Templates")]),
        ]),
    // The client of `siwa login`. It signs in at any server, and imports nothing of this one.
    Wing(
        "Login", needs: "Encodings Cryptography StrictJSON JOSE OutgoingHTTP",
        [Module("OAuthLogin", "AsyncHTTPClient NIOCore NIOPosix NIOHTTP1")]),
]

/// The folders of `Tests`: tests, and modules that several of them need.
let tests = [
    Wing(
        "Kit",
        [
            Module("TestSupport", "KeySets Logging Metrics"),
            Module("TokenMint", "StrictJSON JOSE"),
            Module("ScriptedHTTP", "Hummingbird Logging NIOCore NIOPosix"),
            Module("EncodingsTests", "Encodings"),
            Module("CryptographyTests", "Cryptography Encodings"),
            Module("StrictJSONTests", "StrictJSON"),
            Module("PageTemplatesTests", "PageTemplates"),
            Module("TraceExportTests", "\(support) TraceExport Tracing"),
            Module(
                "JOSETests", "TestSupport Encodings Cryptography StrictJSON JOSE COpenSSL CLibJWT TokenMint"),
            Module("HTTPEngineTests", "\(support) HTTPEngine NIOCore NIOPosix NIOHTTP1"),
        ]),
    Wing(
        "Apple", needs: "Encodings Cryptography StrictJSON JOSE",
        [
            Module("AttestationMint", "COpenSSL"),
            Module("AppleIdentityTests", "AppleIdentity TokenMint"),
            Module("KeySetsTests", "AppleIdentity KeySets TokenMint TestSupport"),
            Module("AppAttestationTests", "AppAttestation AttestationMint Certificates TestSupport"),
            Module("AppleIDClientTests", "AppleIDClient KeySets TestSupport ScriptedHTTP \(server)"),
        ]),
    Wing(
        "Domain", needs: "Encodings Cryptography StrictJSON JOSE AppAttestation Domain",
        [
            Module("OAuthSamples"),
            Module("AppleAccountsTests", "TestSupport StorageConformance"),
            Module("AuthorizationServerTests", "TestSupport StorageConformance OAuthFixtures"),
        ]),
    Wing(
        "Stores",
        needs: "Encodings Cryptography AppAttestation KeySets AppleAccounts AuthorizationServer TestSupport",
        [
            Module("PostgresCluster"),
            Module("StorageConformance", "SQLTables"),
            Module("SQLiteStorageTests", "SQLTables SQLiteStorage StorageConformance GRDB Logging"),
            Module(
                "PostgresStorageTests", "SQLTables PostgresStorage StorageConformance PostgresCluster Logging"
            ),
        ]),
    Wing(
        "Service", needs: "\(support) StorageConformance TokenMint Apple Domain Commits",
        [
            Module("CommitsTests", "SQLiteStorage TraceExport Tracing"),
            Module("SignInTests", "SignIn SQLiteStorage AttestationMint Certificates"),
            Module("OAuthTests", "SignIn OAuth OAuthSamples"),
            Module("EventDeliveryTests", "SignIn EventDelivery"),
            Module("FixtureTests", "SignIn SQLiteStorage PostgresStorage PostgresCluster"),
        ]),
    Wing(
        "HTTP",
        needs:
            "\(support) NIOCore NIOPosix NIOHTTP1 Kit Apple Domain Service HTTP StorageConformance TokenMint",
        [
            Module("OAuthFixtures"),
            Module("HTTPAPITests", "OAuthSamples AttestationMint Tracing"),
            Module("OAuthFixtureTests", "Composition SQLiteStorage OAuthFixtures"),
        ]),
    Wing(
        "Console", needs: "\(support) NIOCore NIOPosix NIOHTTP1 Kit Apple Domain Service HTTP",
        [Module("ConsoleTests", "Console SQLiteStorage OAuthSamples StorageConformance TokenMint")]),
    Wing(
        "Fakes", needs: "\(support) \(server) EmulatorServer ScriptedHTTP",
        [
            Module("AppleEmulatorTests", "AppleEmulator AppAttestation Certificates HummingbirdCore"),
            Module("GoogleEmulatorTests", "GoogleEmulator"),
            Module("ReceiverEmulatorTests", "ReceiverEmulator NIOSSL"),
        ]),
    Wing("Login", [Module("OAuthLoginTests", "\(support) \(server) Login ScriptedHTTP TokenMint")]),
    Wing(
        "siwa", needs: "TestSupport",
        [
            Module("SiwaBinary"),
            Module("DocumentationTests"),
            Module("SiwaCommandTests", "\(all) Console Login ArgumentParser NIOSSL AttestationMint"),
            Module("EndToEndTests", "\(all) ExampleBackend UnixSignals", exclude: ["Clients"]),
        ]),
]

// What scripts/test builds once more with the address sanitizer: the targets that call C or read memory by
// pointers, what they stand on, and their tests. The whole package would take too long, and so would anything
// with an HTTP library: its C alone is 400 files of cryptography. They are optimized, because only optimized
// code frees what it no longer needs in the middle of a function; what they depend on is not, because it
// takes three times as long to compile.
let isSanitized = Context.environment["SIWA_SANITIZED"] != nil
let sanitized: Set = [
    "COpenSSL", "CLibJWT", "CLibPQ", "Encodings", "Cryptography", "StrictJSON", "JOSE", "Certificates",
    "AppAttestation", "AttestationMint", "AppAttestationTests", "AppleIdentity", "KeySets", "AppleAccounts",
    "AuthorizationServer", "SQLTables", "SQLiteStorage", "PostgresStorage", "TokenMint", "TestSupport",
    "StorageConformance", "PostgresCluster", "EncodingsTests", "StrictJSONTests", "CryptographyTests",
    "JOSETests",
    "SQLiteStorageTests", "PostgresStorageTests",
    // Products of other packages that these need.
    "GRDB", "GRDBSQLite", "Logging", "Metrics",
]
func isBuilt(_ name: String) -> Bool { !isSanitized || sanitized.contains(name) }
let flags = isSanitized ? settings + [.unsafeFlags(["-O"])] : settings

func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

let modules = Dictionary(uniqueKeysWithValues: wings.map { ($0.name, $0.modules.map(\.name)) })

func dependencies(_ needs: String, of name: String) -> [Target.Dependency] {
    // A module can have the name of its wing.
    let names = words(needs).flatMap { $0 == name ? [$0] : modules[$0] ?? [$0] }
    return Set(names).subtracting([name]).filter(isBuilt).sorted().map { need in
        let package = products.first { words($0.value).contains(need) }?.key
        return package.map { .product(name: need, package: $0) } ?? .target(name: need)
    }
}

/// The targets of the wings below a folder, without those that the address sanitizer does not get.
func targets(of wings: [Wing], in folder: String) -> [Target] {
    wings.flatMap { wing in
        wing.modules.filter { isBuilt($0.name) }.map { module in
            let needs = dependencies("\(wing.needs) \(module.needs)", of: module.name)
            let path = "\(folder)/\(wing.name)/\(module.name)"
            return module.name.hasSuffix("Tests")
                ? .testTarget(
                    name: module.name, dependencies: needs, path: path, exclude: module.exclude,
                    swiftSettings: flags)
                : .target(
                    name: module.name, dependencies: needs, path: path, resources: module.resources,
                    swiftSettings: flags)
        }
    }
}

// An arrow between wings that is not declared ends the build here.
for wing in wings {
    let closed = Set(wings.map(\.name)).subtracting(["Kit", wing.name] + wing.arrows)
    for need in ([wing.needs] + wing.modules.map(\.needs)).flatMap(words) {
        let other = closed.first { $0 == need || modules[$0]?.contains(need) == true }
        precondition(other == nil, "the wing \(wing.name) may not import \(need) of \(other ?? "")")
    }
}

let libraries: [Target] = [
    .systemLibrary(
        name: "COpenSSL", path: "Sources/Kit/COpenSSL", pkgConfig: "libcrypto",
        providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
        name: "CLibJWT", path: "Sources/Kit/CLibJWT", pkgConfig: "libjwt",
        providers: [.apt(["libjwt-dev"]), .brew(["libjwt"])]),
    .systemLibrary(
        name: "CLibPQ", path: "Sources/Kit/CLibPQ", pkgConfig: "libpq",
        providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
]
let program =
    "\(server) Kit Apple Domain Stores Service HTTP Console ArgumentParser Configuration Yams UnixSignals Tracing"
    + " CoreMetrics Metrics"
let programs: [Target] = [
    // Settings, doctor, composition: what both programs need.
    .target(
        name: "Composition", dependencies: dependencies(program, of: "Composition"), swiftSettings: settings),
    // The service, and commands of its operators.
    .executableTarget(
        name: "siwa", dependencies: dependencies("\(program) Composition", of: "siwa"),
        swiftSettings: settings),
    // The trial: the service with the fakes beside it.
    .executableTarget(
        name: "siwa-dev",
        dependencies: dependencies("\(program) Composition Fakes Login NIOSSL", of: "siwa-dev"),
        resources: [.embedInCode("Templates")], swiftSettings: settings),
    // The Swift backend of docs/integrate.md, built as its readers build it.
    .executableTarget(
        name: "ExampleBackend",
        dependencies: dependencies(
            "Hummingbird AsyncHTTPClient NIOCore NIOHTTP1 ServiceLifecycle Logging Crypto CryptoExtras",
            of: "ExampleBackend"),
        path: "docs/backends/swift", exclude: ["Package.swift"],
        swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
]

let package = Package(
    name: "siwa",
    platforms: [.macOS(.v15)],
    products: isSanitized
        ? []
        : [
            .executable(name: "siwa", targets: ["siwa"]),
            .executable(name: "siwa-dev", targets: ["siwa-dev"]),
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
    targets: libraries + targets(of: wings, in: "Sources") + targets(of: tests, in: "Tests")
        + (isSanitized ? [] : programs)
)
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
