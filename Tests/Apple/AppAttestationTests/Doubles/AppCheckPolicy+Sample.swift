import AppAttestation
import Testing

extension AppCheckPolicy {
    static func sample(
        _ mode: AppCheckMode, target: AppCheckTarget = .app(bundleID: "com.example.app"),
        firstAttestingVersion: String? = nil
    ) throws -> AppCheckPolicy {
        AppCheckPolicy(
            target: target,
            appID: try #require(AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.app")), platform: .iOS,
            mode: mode, environment: .production,
            firstAttestingVersion: try firstAttestingVersion.map { try #require(AppVersion($0)) })
    }
}
