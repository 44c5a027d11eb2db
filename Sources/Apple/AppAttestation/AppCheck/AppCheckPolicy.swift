/// App Check settings for one target, from the configuration. Decisions need no I/O and no clock.
public struct AppCheckPolicy: Sendable, Hashable {
    public let target: AppCheckTarget
    /// The app whose keys create the proofs for this target.
    public let appID: AppID
    public let platform: AppPlatform
    /// The effective mode.
    public let mode: AppCheckMode
    /// The mode that is configured for the target itself. `mode` is
    /// stricter if the target's bundle ID or app has a stricter mode.
    public let declaredMode: AppCheckMode
    /// The environment of the accepted keys.
    public let environment: AttestationEnvironment
    /// The first app version that sends proofs; `nil` if all versions do.
    public let firstAttestingVersion: AppVersion?

    public init(
        target: AppCheckTarget, appID: AppID, platform: AppPlatform, mode: AppCheckMode,
        environment: AttestationEnvironment, firstAttestingVersion: AppVersion?,
        declaredMode: AppCheckMode? = nil
    ) {
        self.target = target
        self.appID = appID
        self.platform = platform
        self.mode = mode
        self.declaredMode = declaredMode ?? mode
        self.environment = environment
        self.firstAttestingVersion = firstAttestingVersion
    }

    /// Returns the same policy, but with this mode if it is stricter.
    public func atLeast(_ mode: AppCheckMode) -> AppCheckPolicy {
        AppCheckPolicy(
            target: target, appID: appID, platform: platform, mode: max(self.mode, mode),
            environment: environment, firstAttestingVersion: firstAttestingVersion,
            declaredMode: declaredMode)
    }

    /// Judges a request. Returns `nil` if the mode is `off`, in which case proofs need not be read.
    ///
    /// - Parameter appVersion: The request's `app_version` member. Any client can claim any version, so the
    ///   version only decides between the two kinds of request without a proof, and never lets a request
    ///   pass.
    public func decision(on proof: AppCheckProof, appVersion: String?) -> AppCheckDecision? {
        let (kind, refusal) = judgement(on: proof, appVersion: appVersion)
        return switch mode {
        case .off: nil
        case .monitored: AppCheckDecision(kind: kind, refusal: nil)
        case .enforced: AppCheckDecision(kind: kind, refusal: refusal)
        }
    }

    private func judgement(
        on proof: AppCheckProof, appVersion: String?
    ) -> (kind: AppCheckKind, refusal: AppCheckRefusal?) {
        switch proof {
        case .holds: (.verified, nil)
        case .doesNotHold(let cause): (.invalid, AppCheckRefusal(.attestationInvalid, cause: cause))
        case .absent:
            isOutdated(appVersion)
                ? (.outdatedApp, AppCheckRefusal(.attestationRequired, cause: .appOutdated))
                : (.unknownOrigin, AppCheckRefusal(.attestationRequired, cause: .proofMissing))
        }
    }

    /// Returns false for text that is not a version.
    private func isOutdated(_ appVersion: String?) -> Bool {
        guard let firstAttestingVersion, let appVersion, let version = AppVersion(appVersion) else {
            return false
        }
        return version < firstAttestingVersion
    }
}

/// Strictness toward requests without a valid proof, for one bundle ID or one OAuth client.
public enum AppCheckMode: String, Sendable, CaseIterable, Comparable {
    /// Proofs are neither read nor counted.
    case off
    /// Proofs are verified and counted, but no request is refused.
    case monitored
    /// Requests without a valid proof are refused.
    case enforced

    /// Compares strictness: the stricter mode is the greater one.
    public static func < (lhs: AppCheckMode, rhs: AppCheckMode) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .off: 0
        case .monitored: 1
        case .enforced: 2
        }
    }
}

/// The target that a mode applies to: an app, identified by its bundle ID, or an OAuth client, identified by
/// its client ID.
public enum AppCheckTarget: Sendable, Hashable {
    case app(bundleID: String)
    case oauthClient(id: String)

    /// The kind, as named in storage and metrics.
    public enum Kind: String, Sendable, CaseIterable {
        case app
        case oauthClient = "oauth_client"
    }

    public init(_ kind: Kind, name: String) {
        switch kind {
        case .app: self = .app(bundleID: name)
        case .oauthClient: self = .oauthClient(id: name)
        }
    }

    public var kind: Kind {
        switch self {
        case .app: .app
        case .oauthClient: .oauthClient
        }
    }

    public var name: String {
        switch self {
        case .app(let bundleID): bundleID
        case .oauthClient(let id): id
        }
    }
}

/// An app version such as `4.2.1`: numbers separated by dots.
///
/// Parts are compared as numbers and a missing part is 0, so `4.10` is above `4.9`, and `4.2` equals `4.2.0`.
public struct AppVersion: Sendable, Hashable {
    /// The parts without trailing zeros; empty for version 0.
    private let parts: [UInt32]

    /// Maximum number of parts, and of digits per part, so a version has 1 to 39 characters.
    static let (mostParts, mostDigits) = (4, 9)

    /// Format description for error messages.
    public static let form =
        "1 to \(mostParts) numbers of at most \(mostDigits) digits with dots between them"

    /// Returns `nil` unless the text is 1 to 4 numbers of 1 to 9 digits. This excludes signs, white space,
    /// empty parts and suffixes such as `-beta`.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.mostParts * (Self.mostDigits + 1) - 1 else { return nil }
        var parts: [UInt32] = []
        for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...Self.mostDigits).contains(part.count), parts.count < Self.mostParts else { return nil }
            var number: UInt32 = 0
            for byte in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                // Nine digits stay below 2^30, so this cannot overflow.
                number = number * 10 + UInt32(byte - UInt8(ascii: "0"))
            }
            parts.append(number)
        }
        while parts.last == 0 { parts.removeLast() }
        self.parts = parts
    }
}

extension AppVersion: Comparable {
    public static func < (lhs: AppVersion, rhs: AppVersion) -> Bool {
        lhs.parts.lexicographicallyPrecedes(rhs.parts)
    }
}

extension AppVersion: CustomStringConvertible {
    public var description: String {
        parts.isEmpty ? "0" : parts.map(String.init).joined(separator: ".")
    }
}

/// The App Check policies for all targets. They do not change at run time.
public struct AppCheckPolicies: Sendable {
    /// All policies in configuration order, including those whose mode is `off`.
    public let all: [AppCheckPolicy]
    private let indexByTarget: [AppCheckTarget: Int]

    /// A configuration without targets, so App Check judges no request.
    public static let none = AppCheckPolicies([])

    /// - Parameter policies: Policies for distinct targets.
    ///   If a target occurs twice, its first policy applies.
    public init(_ policies: [AppCheckPolicy]) {
        var index: [AppCheckTarget: Int] = [:]
        var kept: [AppCheckPolicy] = []
        for policy in policies where index[policy.target] == nil {
            index[policy.target] = kept.count
            kept.append(policy)
        }
        (all, indexByTarget) = (kept, index)
    }

    public subscript(target: AppCheckTarget) -> AppCheckPolicy? { indexByTarget[target].map { all[$0] } }

    /// Returns the policy for a bundle ID, which is the `aud` of the app's identity tokens; `nil` if none.
    public func ofApp(_ bundleID: String) -> AppCheckPolicy? { self[.app(bundleID: bundleID)] }

    /// Returns the policies for these bundle IDs and their OAuth clients.
    public func of(bundleIDs: Set<String>) -> [AppCheckPolicy] {
        all.filter { bundleIDs.contains($0.appID.bundleID) }
    }

    /// Returns the strictest policy among an app's bundle IDs; `nil` if none of them has a policy.
    public func strictest(of bundleIDs: [String]) -> AppCheckPolicy? {
        bundleIDs.compactMap { ofApp($0) }.filter { $0.mode != .off }.max { $0.mode < $1.mode }
    }

    public func ofOAuthClient(_ id: String) -> AppCheckPolicy? { self[.oauthClient(id: id)] }
}
