// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "ExampleBackend",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "siwa", path: "../../.."),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.0.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(
            name: "ExampleBackend",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "SiwaClient", package: "siwa"),
                .product(name: "SiwaHummingbird", package: "siwa"),
            ],
            path: ".")
    ])
