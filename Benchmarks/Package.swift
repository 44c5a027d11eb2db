// swift-tools-version: 6.2

import PackageDescription

/// The Swift half of `scripts/bench`: what the service is measured against, and a load at a fixed rate. A
/// package of its own, so that the service depends on none of it.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")

let package = Package(
    name: "siwa-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.6.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "EchoServer", dependencies: [argumentParser, hummingbird], swiftSettings: settings),
        .executableTarget(
            name: "JWTKitServer",
            dependencies: [argumentParser, hummingbird, .product(name: "JWTKit", package: "jwt-kit")],
            swiftSettings: settings),
        .executableTarget(name: "PacedLoad", dependencies: [argumentParser], swiftSettings: settings),
    ]
)
