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

/// Packages of others: the path at GitHub, the least version, and the products that are used.
let packages = lines(
    """
    apple/swift-argument-parser.git 1.6.0 ArgumentParser
    apple/swift-configuration.git 1.2.0 Configuration
    apple/swift-crypto.git 4.0.0 Crypto CryptoExtras
    apple/swift-distributed-tracing.git 1.7.0 Tracing
    apple/swift-http-types.git 1.8.0 HTTPTypes
    apple/swift-log.git 1.14.0 Logging
    apple/swift-metrics.git 2.9.0 CoreMetrics Metrics
    apple/swift-nio.git 2.101.0 NIOCore NIOPosix NIOHTTP1
    apple/swift-nio-ssl.git 2.37.0 NIOSSL
    groue/GRDB.swift.git 7.10.0 GRDB GRDBSQLite
    hummingbird-project/hummingbird.git 2.28.0 Hummingbird HummingbirdCore HummingbirdTLS
    jpsim/Yams 6.0.0 Yams
    swift-server/async-http-client.git 1.37.0 AsyncHTTPClient
    swift-server/swift-service-lifecycle.git 2.13.0 ServiceLifecycle UnixSignals
    """
).map(words)

/// The folders of `Sources` with their modules. A line at the margin is a wing: its name, after `->` the wings whose
/// modules its own may need beside Kit and each other, and after `:` what each of its modules needs. The lines below are
/// modules with what they need more: modules, wings (all their modules), groups, system libraries, products of
/// packages. An arrow that is not here ends the build, and so does an import of what a module does not need
/// (scripts/build-options).
let wings = Wing.list(
    """
    # Bytes, formats, HTTP and traces. Knows nothing of Apple. Embedded by others: each needs as little as it can.
    Kit:
      Encodings:
      Cryptography: COpenSSL
      StrictJSON: Encodings
      JOSE: Encodings Cryptography StrictJSON COpenSSL CLibJWT
      Certificates: Encodings Cryptography JOSE COpenSSL
      Pages: Encodings
      # Bounds of every HTTP client of this program.
      OutgoingHTTP: AsyncHTTPClient NIOCore NIOHTTP1
      # Spans of this program, and their way to a collector.
      TraceExport: Encodings StrictJSON Tracing Logging Metrics ServiceLifecycle
      HTTPEngine: Encodings HummingbirdCore NIOCore NIOPosix NIOHTTP1 Logging ServiceLifecycle

    # Apple's tokens, keys and endpoints. Embedded by others too.
    Apple: Encodings JOSE
      AppleIdentity: Cryptography StrictJSON
      KeySets: AppleIdentity
      AppAttestation: Cryptography Certificates
      AppleIDClient: StrictJSON KeySets OutgoingHTTP TraceExport AsyncHTTPClient NIOCore NIOHTTP1 Metrics Tracing

    # Accounts, OAuth 2.0 on top of them, and events as others get them: no input or output, and no clock.
    Domain -> Apple: Encodings Cryptography StrictJSON JOSE AppAttestation
      AppleAccounts:
      AuthorizationServer: AppleAccounts

    # Where accounts are stored.
    Stores -> Domain Apple: Cryptography AppAttestation KeySets AppleAccounts AuthorizationServer Logging
      SQLTables: StrictJSON
      SQLiteStorage: SQLTables GRDB GRDBSQLite
      PostgresStorage: SQLTables CLibPQ

    # What the service does.
    Service -> Domain Apple: rules TraceExport ServiceLifecycle Logging Metrics Tracing
      # Queues of commands before the transactions, and the feed of account events.
      Commits:
      SignIn: AppleIDClient Commits
      OAuth: Commits SignIn
      # Events to receivers: webhooks, and what else pushes.
      EventDelivery: Commits SignIn
      # The checks of one token, for `siwa verify` and the console.
      Inspection:

    # The interface, and the pages for users.
    HTTP -> Service Domain Apple:
      HTTPAPI: interface Pages TraceExport Tracing

    # Pages for developers and operators, above the interface.
    Console -> HTTP Service Domain Apple:
      Console: interface HTTP JOSE Pages

    # Apple, Google and a receiver of events, for development and tests. They import nothing that verifies.
    Fakes: Encodings Cryptography StrictJSON JOSE Pages server HummingbirdTLS NIOSSL
      EmulatorServer: HummingbirdCore
      AppleEmulator: EmulatorServer
      GoogleEmulator: EmulatorServer
      ReceiverEmulator: EmulatorServer Certificates

    # The client of `siwa login`. It signs in at any server, and imports nothing of this one.
    Login: Encodings Cryptography StrictJSON JOSE OutgoingHTTP
      OAuthLogin: AsyncHTTPClient NIOCore NIOPosix NIOHTTP1
    """)

/// The folders of `Tests`: tests, and modules that several of them need.
let tests = Wing.list(
    """
    Kit:
      TestSupport: KeySets Logging Metrics
      TokenMint: StrictJSON JOSE
      ScriptedHTTP: Hummingbird Logging NIOCore NIOPosix
      EncodingsTests: Encodings
      CryptographyTests: Cryptography Encodings
      StrictJSONTests: StrictJSON
      PagesTests: Pages TestSupport
      TraceExportTests: support TraceExport Tracing
      JOSETests: TestSupport Encodings Cryptography StrictJSON JOSE COpenSSL CLibJWT TokenMint
      HTTPEngineTests: support HTTPEngine NIOCore NIOPosix NIOHTTP1
    Apple: Encodings Cryptography StrictJSON JOSE
      AttestationMint: COpenSSL
      AppleIdentityTests: AppleIdentity TokenMint
      KeySetsTests: AppleIdentity KeySets TokenMint TestSupport
      AppAttestationTests: AppAttestation AttestationMint Certificates TestSupport
      AppleIDClientTests: AppleIDClient KeySets TestSupport ScriptedHTTP server
    Domain: Encodings Cryptography StrictJSON JOSE AppAttestation Domain
      OAuthSamples:
      AppleAccountsTests: TestSupport StorageConformance
      AuthorizationServerTests: TestSupport StorageConformance OAuthFixtures
    Stores: Encodings Cryptography AppAttestation KeySets AppleAccounts AuthorizationServer TestSupport
      PostgresCluster:
      StorageConformance: SQLTables
      SQLiteStorageTests: SQLTables SQLiteStorage StorageConformance GRDB Logging
      PostgresStorageTests: SQLTables PostgresStorage StorageConformance PostgresCluster Logging
    Service: support StorageConformance TokenMint Apple Domain Commits
      CommitsTests: SQLiteStorage TraceExport Tracing
      SignInTests: SignIn SQLiteStorage AttestationMint Certificates
      OAuthTests: SignIn OAuth OAuthSamples
      EventDeliveryTests: SignIn EventDelivery
      FixtureTests: SignIn SQLiteStorage PostgresStorage PostgresCluster
    HTTP: support NIOCore NIOPosix NIOHTTP1 Kit Apple Domain Service HTTP StorageConformance TokenMint
      OAuthFixtures:
      HTTPAPITests: OAuthSamples AttestationMint Tracing Yams
      OAuthFixtureTests: Composition SQLiteStorage OAuthFixtures
    Console: support NIOCore NIOPosix NIOHTTP1 Kit Apple Domain Service HTTP
      ConsoleTests: Console SQLiteStorage OAuthSamples StorageConformance TokenMint
    Fakes: support server EmulatorServer ScriptedHTTP
      AppleEmulatorTests: AppleEmulator AppAttestation Certificates HummingbirdCore
      GoogleEmulatorTests: GoogleEmulator
      ReceiverEmulatorTests: ReceiverEmulator NIOSSL
    Login:
      OAuthLoginTests: support server Login ScriptedHTTP TokenMint
    siwa: TestSupport
      SiwaBinary:
      DocumentationTests:
      SiwaCommandTests: all Console Login ArgumentParser NIOSSL AttestationMint
      EndToEndTests: all ExampleBackend UnixSignals
    """)

/// The package for Swift backends, and its adapter. Their users compile no other module of this package.
let clients = Wing.list(
    """
    swift: Logging
      SiwaClient: AsyncHTTPClient Crypto CryptoExtras NIOCore NIOHTTP1 NIOPosix NIOSSL
      SiwaHummingbird: SiwaClient Hummingbird HTTPTypes NIOCore
      SiwaClientTests: SiwaClient SiwaTrial SiwaBinary TestSupport AsyncHTTPClient NIOCore NIOHTTP1 NIOSSL
    """)

/// What modules need in one word.
let groups = [
    "rules":
        "Encodings Cryptography StrictJSON JOSE Certificates AppAttestation AppleIdentity KeySets Domain",
    // An interface over HTTP.
    "interface":
        "Encodings Cryptography StrictJSON HTTPEngine AppAttestation AppleIdentity KeySets Domain Service NIOCore"
        + " NIOPosix NIOHTTP1 Logging CoreMetrics ServiceLifecycle",
    // A server or client that is built on the libraries of others.
    "server": "Hummingbird HTTPTypes AsyncHTTPClient NIOCore NIOPosix NIOHTTP1 Logging ServiceLifecycle",
    // Tests of a wing: the wings below it, and packages.
    "support":
        "TestSupport Encodings Cryptography StrictJSON JOSE Logging CoreMetrics Metrics ServiceLifecycle",
    // The programs.
    "program":
        "server Kit Apple Domain Stores Service HTTP Console ArgumentParser Configuration Yams UnixSignals Tracing"
        + " CoreMetrics Metrics",
    // Tests of the programs.
    "all":
        "support server Composition siwa siwa-dev Kit Apple Domain Stores Service HTTP Fakes SiwaBinary TokenMint"
        + " ScriptedHTTP PostgresCluster",
]

let assets = Resource.embedInCode("Assets")
let resources: [String: [Resource]] = [
    "Console": [assets], "AppleEmulator": [assets], "GoogleEmulator": [assets],
    "ReceiverEmulator": [assets],
]

// What scripts/test builds once more with the address sanitizer: the targets that call C or read memory by
// pointers, what they stand on, and their tests. The whole package would take too long, and so would anything
// with an HTTP library: its C alone is 400 files of cryptography. They are optimized, because only optimized
// code frees what it no longer needs in the middle of a function, and because the standard library copies
// overlapping memory when it reads a key path that the compiler has not resolved. What they depend on is not
// optimized, because it takes three times as long to compile.
let isSanitized = Context.environment["SIWA_SANITIZED"] != nil
let sanitized: Set = [
    "COpenSSL", "CLibJWT", "CLibPQ", "Encodings", "Cryptography", "StrictJSON", "JOSE", "Certificates",
    "AppAttestation", "AttestationMint", "AppAttestationTests", "AppleIdentity", "KeySets", "AppleAccounts",
    "AuthorizationServer", "SQLTables", "SQLiteStorage", "PostgresStorage", "TokenMint", "TestSupport",
    "StorageConformance", "PostgresCluster", "EncodingsTests", "StrictJSONTests", "CryptographyTests",
    "JOSETests", "SQLiteStorageTests", "PostgresStorageTests",
    // Products of other packages that these need.
    "GRDB", "GRDBSQLite", "Logging", "Metrics",
]
func isBuilt(_ name: String) -> Bool { !isSanitized || sanitized.contains(name) }
let flags = isSanitized ? settings + [.unsafeFlags(["-O"])] : settings

func words(_ text: some StringProtocol) -> [String] {
    String(text).split(separator: " ").map(String.init)
}

/// The lines of a table, without comments.
func lines(_ table: String) -> [Substring] {
    table.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("#") }
}

struct Wing {
    let name: String
    let arrows: [String]
    let needs: [String]
    var modules: [(name: String, needs: [String])] = []

    static func list(_ table: String) -> [Wing] {
        lines(table).reduce(into: []) { wings, line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(words)
            if line.hasPrefix(" ") {
                wings[wings.count - 1].modules.append((parts[0][0], parts[1]))
            } else {
                wings.append(Wing(name: parts[0][0], arrows: Array(parts[0].dropFirst(2)), needs: parts[1]))
            }
        }
    }
}

let modules = Dictionary(uniqueKeysWithValues: wings.map { ($0.name, $0.modules.map(\.name)) })

/// A need, or what its group stands for.
func members(_ need: String) -> [String] { groups[need].map { words($0).flatMap(members) } ?? [need] }

func dependencies(_ needs: [String], of name: String) -> [Target.Dependency] {
    // A module can have the name of its wing.
    let names = needs.flatMap(members).flatMap { $0 == name ? [] : modules[$0] ?? [$0] }
    return Set(names).subtracting([name]).filter(isBuilt).sorted().map { need in
        let package = packages.first { $0.dropFirst(2).contains(need) }
        let path = package?[0].split(separator: "/")[1].replacing(".git", with: "")
        return path.map { .product(name: need, package: String($0)) } ?? .target(name: need)
    }
}

/// The targets of the wings below a folder, without those that the address sanitizer does not get.
func targets(of wings: [Wing], in folder: String) -> [Target] {
    wings.flatMap { wing in
        wing.modules.filter { isBuilt($0.name) }.map { name, needs in
            let needs = dependencies(wing.needs + needs, of: name)
            let path = "\(folder)/\(wing.name)/\(name)"
            return name.hasSuffix("Tests")
                ? .testTarget(
                    name: name, dependencies: needs, path: path,
                    exclude: name == "EndToEndTests" ? ["Clients"] : [], swiftSettings: flags)
                : .target(
                    name: name, dependencies: needs, path: path, resources: resources[name],
                    swiftSettings: flags)
        }
    }
}

// An arrow between wings that is not declared ends the build here.
for wing in wings {
    let closed = Set(wings.map(\.name)).subtracting(["Kit", wing.name] + wing.arrows)
    for need in (wing.needs + wing.modules.flatMap(\.needs)).flatMap(members) {
        let other = closed.first { $0 == need || modules[$0]?.contains(need) == true }
        precondition(other == nil, "the wing \(wing.name) may not import \(need) of \(other ?? "")")
    }
}

func library(_ name: String, _ config: String, apt: String, brew: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Kit/\(name)", pkgConfig: config, providers: [.apt([apt]), .brew([brew])])
}
let libraries = [
    library("COpenSSL", "libcrypto", apt: "libssl-dev", brew: "openssl@3"),
    library("CLibJWT", "libjwt", apt: "libjwt-dev", brew: "libjwt"),
    library("CLibPQ", "libpq", apt: "libpq-dev", brew: "libpq"),
]
let programs: [Target] = [
    // The commit that `--version` prints. scripts/build passes it; other builds have none.
    .target(
        name: "CBuildCommit", path: "Sources/Kit/CBuildCommit",
        cSettings: [.define("SIWA_COMMIT", to: "\"\(Context.environment["SIWA_COMMIT"] ?? "")\"")]),
    // Settings, doctor, composition: what both programs need.
    .target(
        name: "Composition", dependencies: dependencies(["program", "CBuildCommit"], of: "Composition"),
        swiftSettings: settings),
    // The service, and commands of its operators.
    .executableTarget(
        name: "siwa", dependencies: dependencies(["program", "Composition"], of: "siwa"),
        swiftSettings: settings),
    // The trial: the service with the fakes beside it.
    .executableTarget(
        name: "siwa-dev",
        dependencies: dependencies(["program", "Composition", "Fakes", "Login", "NIOSSL"], of: "siwa-dev"),
        swiftSettings: settings),
    // The program of clients/swift/README.md, built as its readers build it.
    .executableTarget(
        name: "SiwaTrial", dependencies: ["SiwaClient"], path: "clients/swift/SiwaTrial",
        swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    // The Swift backend of docs/integrate.md, built as its readers build it.
    .executableTarget(
        name: "ExampleBackend",
        dependencies: dependencies(
            words("SiwaClient SiwaHummingbird Hummingbird Crypto CryptoExtras"), of: "ExampleBackend"),
        path: "docs/backends/swift", exclude: ["Package.swift"],
        swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
]

/// With SIWA_LOCKED every package, also one that only another package needs, has the version that was tested. For
/// all other builds, and for packages that depend on this one, `from:` decides.
func dependencies() throws -> [Package.Dependency] {
    func traits(_ url: String) -> Set<Package.Dependency.Trait> {
        url.hasSuffix("/swift-configuration.git") ? [.defaults, "YAML"] : [.defaults]
    }
    guard Context.environment["SIWA_LOCKED"] != nil else {
        return packages.map { package in
            let url = "https://github.com/\(package[0])"
            return .package(url: url, from: Version(stringLiteral: package[1]), traits: traits(url))
        }
    }
    let list = try String(
        contentsOfFile: "\(Context.packageDirectory)/scripts/package-versions.txt", encoding: .utf8)
    return lines(list).map(words).map {
        .package(url: $0[0], exact: Version(stringLiteral: $0[1]), traits: traits($0[0]))
    }
}

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
            .library(name: "SiwaClient", targets: ["SiwaClient"]),
            .library(name: "SiwaHummingbird", targets: ["SiwaHummingbird"]),
        ],
    dependencies: try dependencies(),
    targets: libraries + targets(of: wings, in: "Sources") + targets(of: tests, in: "Tests")
        + targets(of: clients, in: "clients") + (isSanitized ? [] : programs)
)
