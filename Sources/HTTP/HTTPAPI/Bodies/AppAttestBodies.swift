public import AppAttestation
public import AppleAccounts
public import AuthorizationServer
public import SignIn
public import StrictJSON

// The request and response bodies of the App Attest and App Check endpoints.

/// The body of `POST /v1/app-attest/challenges`.
struct ChallengeRequest: RequestBody {
    static var schemaName: String { "ChallengeRequest" }
    let purpose: AppAttestChallenge.Purpose
    let clientID: String

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        purpose = try member.required("purpose")
        clientID = try member.required(
            "client_id", "The bundle ID of the app. The challenge is valid for no other app.")
    }
}

extension AppAttestChallenge.Purpose: RequestWord {
    static var requestSchema: JSONSchema {
        [
            "type": "string",
            "pattern": .string("^(\(allCases.map(\.rawValue).joined(separator: "|")))$"),
            "description": "`attestation` or `assertion`. The challenge is valid for no other purpose.",
        ]
    }
}

extension KeyRegistrationRequest: RequestBody {
    static var schemaName: String { "KeyRegistrationRequest" }

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        self.init(
            attestation: try member.required(
                "attestation",
                "The attestation object of `attestKey`, in base64 with padding. At most 16 KiB before the encoding."
            ),
            keyID: try member.required(
                "key_id", "The text that `generateKey` returned, in base64 with padding."),
            challenge: try member.required(
                "challenge", "The challenge. `clientDataHash` was SHA-256 of its UTF-8 bytes."),
            clientID: try member.required("client_id", "The bundle ID of the app."))
    }
}

extension AppAttestChallenge: JSONBody {
    public static var schemaName: String { "Challenge" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "challenge",
            .nonEmpty("The challenge. The app hashes the UTF-8 bytes of this text, and decodes nothing.")
        ) { $0.text }
        member("expires_at") { $0.expiresAt }
    }
}

extension KeyRegistration: JSONBody {
    public static var schemaName: String { "KeyRegistration" }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("key") { AttestedKey(key: $0.key, extensions: $0.extensions) }
        member("is_new_key", "False if the key was registered before.") { $0.isNew }
    }
}

struct AttestedKey: JSONBody {
    static var schemaName: String { "AttestedKey" }
    static var schemaText: String { "A key of App Attest." }
    let key: AttestedKeyRecord
    let extensions: AuthenticatorExtensions

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member.members(ofKey: { $0.key })
        member(
            "validation_category",
            .from(0, "`apple_validation_category_01` of iOS 27 and later, in this attestation.")
        ) { $0.extensions.validationCategory.map { Int64($0) } }
        member("bundle_version", "`apple_bundle_version_01` of iOS 27 and later, in this attestation.") {
            $0.extensions.bundleVersion
        }
    }
}

extension MemberCourse {
    /// Declares the members that every response about a key contains.
    fileprivate mutating func members(ofKey key: (Value) -> AttestedKeyRecord) {
        self("key_id", .nonEmpty("The ID of the key in base64.")) { key($0).id.base64 }
        self("client_id", .nonEmpty("The bundle ID of the app that owns the key.")) { key($0).appID.bundleID }
        self("team_id", .nonEmpty("The team of the app.")) { key($0).appID.teamID }
        self(
            "environment",
            .words(AttestationEnvironment.allCases.map(\.rawValue), "The environment of the attestation.")
        ) { key($0).environment.rawValue }
        self("created_at") { key($0).createdAt }
    }
}

struct StoredKeyResponse: JSONBody {
    static var schemaName: String { "StoredKeyResponse" }
    let key: AttestedKeyRecord

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("key") { $0.key }
    }
}

extension AttestedKeyRecord: JSONBody {
    public static var schemaName: String { "StoredKey" }
    public static var schemaText: String { "A key of App Attest as it is stored." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member.members(ofKey: { $0 })
        member(
            "counter",
            .within(0...Int64(UInt32.max), "The counter of the last assertion; 0 before the first.")
        ) { Int64($0.counter) }
        member("used_at") { $0.usedAt }
        member(
            "validation_category",
            .within(
                0...Int64(UInt32.max),
                "`apple_validation_category_01` of iOS 27 and later, in the last proof of the key: its attestation, or "
                    + "an assertion.")
        ) { $0.facts.validationCategory.map { Int64($0) } }
        member(
            "bundle_version",
            .length(
                1...64,
                "`apple_bundle_version_01` of iOS 27 and later, in the same proof. Absent if it is longer, or has a "
                    + "control character.")
        ) { $0.facts.bundleVersion }
        member(
            "risk_metric",
            .from(
                0,
                "Apple's approximate number of keys that the app attested on the device in 30 days. Absent before the "
                    + "first exchange of the receipt.")
        ) { $0.riskMetric }
    }
}

extension AppCheckResult: JSONBody {
    public static var schemaName: String { "AppCheckResult" }
    public static var schemaText: String { "Result of judging the app. Absent where App Check is off." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("kind", .words(AppCheckKind.allCases.map(\.rawValue), "The kind of the request.")) {
            $0.kind.rawValue
        }
        member("cause", "Reason why the proof does not hold, with `invalid`.") { $0.cause?.code }
        member("validation_category", .from(0, "`apple_validation_category_01` of iOS 27 and later.")) {
            $0.extensions?.validationCategory.map { Int64($0) }
        }
        member("bundle_version", "`apple_bundle_version_01` of iOS 27 and later.") {
            $0.extensions?.bundleVersion
        }
    }
}

/// The response to `GET /v1/apps/{client_id}/app-check`.
struct AppCheckReport: JSONBody {
    static var schemaName: String { "AppCheckReport" }
    let app: App
    let targets: [Target]
    let clients: [AppCheckCoverage.Client]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("app", .nonEmpty("The primary client ID of the app.")) { $0.app.primaryClientID.rawValue }
        member(
            "targets",
            "The bundle IDs that App Check judges or could judge, and the OAuth clients that belong to them."
        ) { $0.targets }
        member(
            "clients",
            "Every client ID and every OAuth client of the app, also those that are not judged."
        ) { $0.clients }
    }

    struct Target: JSONBody {
        static var schemaName: String { "AppCheckTarget" }
        static var schemaText: String {
            "A bundle ID or an OAuth client, with the mode of this replica and the counts of all replicas."
        }
        let policy: AppCheckPolicy
        /// Counts per hour, the oldest hour first.
        let hours: [AppCheckHour]

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member(
                "kind",
                .words(
                    AppCheckTarget.Kind.allCases.map(\.rawValue),
                    "`app` for a bundle ID, `oauth_client` for an OAuth client.")
            ) { $0.policy.target.kind.rawValue }
            member("client_id", .nonEmpty("The OAuth client.")) { target -> String? in
                if case .oauthClient(let id) = target.policy.target { id } else { nil }
            }
            member("bundle_id", .nonEmpty("The bundle ID whose keys make the proofs.")) {
                $0.policy.appID.bundleID
            }
            member("app_check", .appCheckMode("The mode.")) { $0.policy.mode.rawValue }
            member(
                "environment",
                .words(
                    AttestationEnvironment.allCases.map(\.rawValue),
                    "The environment of App Attest whose keys are accepted.")
            ) { $0.policy.environment.rawValue }
            member(
                "first_attesting_version", .nonEmpty("The first version of the app that makes proofs.")
            ) { $0.policy.firstAttestingVersion?.description }
            member("total") { Counts(tally: $0.hours.reduce(into: AppCheckTally()) { $0 += $1.tally }) }
            member("hours", "The hours of the last 7 days that have requests, the oldest first.") {
                $0.hours
            }
        }
    }

    struct Counts: JSONBody {
        static var schemaName: String { "AppCheckCounts" }
        static var schemaText: String { "Numbers of requests." }
        let tally: AppCheckTally

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member.members(ofTally: { $0.tally })
        }
    }
}

extension AppCheckHour: JSONBody {
    public static var schemaName: String { "AppCheckHour" }
    public static var schemaText: String { "Numbers of requests within one hour." }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "begins_at",
            ["type": "string", "format": "date-time", "description": "The beginning of the hour."]
        ) { Moment(seconds: $0.hour) }
        member.members(ofTally: { $0.tally })
    }
}

extension MemberCourse {
    fileprivate mutating func members(ofTally tally: (Value) -> AppCheckTally) {
        for kind in AppCheckKind.allCases {
            let (name, text) = kind.counted
            self(name, .from(0, text)) { tally($0)[kind] }
        }
    }
}

extension AppCheckKind {
    /// The name and description of the member that counts requests of this kind.
    fileprivate var counted: (name: StaticString, text: String) {
        switch self {
        case .verified: ("verified", "With a proof that holds.")
        case .outdatedApp:
            (
                "outdated_app",
                "Without a proof, and with an `app_version` before the first version that makes proofs."
            )
        case .unknownOrigin: ("unknown_origin", "Without a proof otherwise.")
        case .invalid: ("invalid", "With a proof that does not hold.")
        }
    }
}

extension AppCheckCoverage.Client: JSONBody {
    public static var schemaName: String { "AppCheckClient" }
    public static var schemaText: String {
        "A client ID or an OAuth client of the app, with the mode of this replica."
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "kind", .words(AppCheckCoverage.Kind.allCases.map(\.rawValue), "The kind of client.")
        ) { $0.kind.rawValue }
        member("client_id", .nonEmpty("The client ID of Apple or the ID of the OAuth client.")) { $0.id }
        member("app_check", .appCheckMode("The mode that holds.")) { $0.mode.rawValue }
        member(
            "declared_app_check", .appCheckMode("The mode that the configuration has for the client itself.")
        ) { $0.declaredMode.rawValue }
        member(
            "basis",
            .words(
                AppCheckCoverage.Basis.allCases.map(\.rawValue),
                "The reason for the mode: the client's own mode, the stricter mode of its bundle ID, the strictest mode of "
                    + "its app, App Flip (the strictest mode of the app, except for intents of Android), or a sign-in in "
                    + "the browser, which no app can prove.")
        ) { $0.basis.rawValue }
    }
}

extension JSONSchema {
    fileprivate static func appCheckMode(_ text: String) -> JSONSchema {
        .words(AppCheckMode.allCases.map(\.rawValue), text)
    }
}
