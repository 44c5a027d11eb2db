/// The facts that iOS 27 and macOS 27 add to the authenticator data.
public struct DeviceExtensions: Sendable, Equatable {
    /// `nil` for 4 (App Store) in production, and 3 (development) in development.
    public var validationCategory: UInt32?
    /// The app's `CFBundleVersion`.
    public var bundleVersion = "1"

    public init() {}

    /// As devices write it: the category as 4 bytes, the lowest first.
    func encoded(in environment: AttestEnvironment) -> [UInt8] {
        let category = validationCategory ?? (environment == .production ? 4 : 3)
        return CBORItem.map([
            (
                .text("apple_validation_category_01"),
                .bytes((0..<4).map { UInt8(truncatingIfNeeded: category >> (8 * UInt32($0))) })
            ),
            (.text("apple_bundle_version_01"), .text(bundleVersion)),
        ]).encoded
    }
}
