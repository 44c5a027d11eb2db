/// App Check of one target, as the configuration declares it. It decides without I/O and clock.
public struct AppCheckPolicy: Sendable, Hashable {
    public let target: AppCheckTarget
    /// The app whose keys make proofs for the target.
    public let appID: AppID
    public let platform: AppPlatform
    /// The mode that holds.
    public let mode: AppCheckMode
    /// The mode that the configuration has for the target itself. `mode` is stricter where the mode of the
    /// target's bundle ID or app is.
    public let declaredMode: AppCheckMode
    /// The environment whose keys are accepted.
    public let environment: AttestationEnvironment
    /// The first version of the app that makes proofs. `nil` is all versions.
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

    /// Returns the same policy, in this mode if it is stricter.
    public func atLeast(_ mode: AppCheckMode) -> AppCheckPolicy {
        AppCheckPolicy(
            target: target, appID: appID, platform: platform, mode: max(self.mode, mode),
            environment: environment, firstAttestingVersion: firstAttestingVersion,
            declaredMode: declaredMode)
    }

    /// Judges a request. Returns `nil` when the mode is `off`: then proofs need not be read.
    ///
    /// - Parameter appVersion: The member `app_version` of the request. Any client can say any version, so it
    ///   only chooses between two kinds without a proof, and never lets a request pass.
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

    /// False for a text that is no version.
    private func isOutdated(_ appVersion: String?) -> Bool {
        guard let firstAttestingVersion, let appVersion, let version = AppVersion(appVersion) else {
            return false
        }
        return version < firstAttestingVersion
    }
}
