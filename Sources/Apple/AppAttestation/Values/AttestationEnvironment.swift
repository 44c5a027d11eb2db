/// The environment of App Attest in which a key was attested.
///
/// Builds that run from Xcode use development unless their entitlement says otherwise. All builds from
/// TestFlight, the App Store and enterprises use production.
public enum AttestationEnvironment: String, Sendable, CaseIterable {
    case development
    case production

    /// 16 bytes: ASCII, padded with zeros.
    var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }

    /// Returns `nil` for the AAGUID of neither environment.
    init?(aaguid: ArraySlice<UInt8>) {
        guard let match = Self.allCases.first(where: { $0.aaguid.elementsEqual(aaguid) }) else { return nil }
        self = match
    }
}
