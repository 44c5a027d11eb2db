import AppAttestation
import AuthorizationServer

extension SettingsFile {
    /// The file's sections, which consist of lists and mappings. Their values are not yet checked.
    ///
    /// ```yaml
    /// oauth:
    ///   issuer: https://signin.example.com   # by default SIWA_PUBLIC_URL; its host is the same
    ///   scopes:
    ///     - name: devices.read
    ///       text: {en: See your devices, tr: Cihazlarını gör}
    ///       optional: true
    ///   clients:
    ///     - id: google
    ///       kind: google_linking
    ///       app: com.example.app
    ///       …                                  # siwa client new prints the rest
    /// ```
    struct Sections: SectionDraft {
        var teams: [Team] = []
        var apiKeys: [Key] = []
        var webhooks: [Webhook] = []
        var oauth = OAuthDraft.empty

        static let empty = Sections()
        static let members: [DraftMember<Sections>] = [
            DraftMember("teams", sections: DraftList(\Sections.teams), each: "team"),
            DraftMember("api_keys", sections: DraftList(\Sections.apiKeys), each: "key"),
            DraftMember("webhooks", sections: DraftList(\Sections.webhooks), each: "webhook"),
            DraftMember("oauth", section: DraftSection(\Sections.oauth)),
        ]
    }

    struct Team: SectionDraft {
        var teamID = ""
        var keyID: String?
        var privateKeyFile: String?
        var apps: [TeamApp] = []

        static let empty = Team()
        static let members: [DraftMember<Team>] = [
            DraftMember("team_id", .text(\.teamID)), DraftMember("key_id", .optionalText(\.keyID)),
            DraftMember("private_key_file", .optionalText(\.privateKeyFile)),
            DraftMember("apps", sections: DraftList(\Team.apps), each: "app"),
        ]
    }

    struct TeamApp: SectionDraft {
        /// Bundle IDs, with the primary client ID first. Includes Services IDs if `services_ids` is absent.
        var clientIDs: [String] = []
        /// The Services IDs listed in `services_ids`.
        var servicesIDs: [String] = []
        var webRedirectURL: String?
        /// The app's name for users, by language tag. Empty if the file contains no name.
        var name: [String: String] = [:]
        /// The bundle IDs that use App Attest.
        var attested: [AttestedApp] = []
        /// The `require_minted_nonce` member. `nil` means `false`.
        var requiresMintedNonce: Bool?

        static let empty = TeamApp()
        static let members: [DraftMember<TeamApp>] = [
            DraftMember("client_ids", .list(\.clientIDs, default: [])),
            DraftMember("services_ids", .list(\.servicesIDs, default: [])),
            DraftMember("web_redirect_url", .optionalText(\.webRedirectURL)),
            DraftMember("name", .texts(\.name)),
            DraftMember("require_minted_nonce", .flag(\.requiresMintedNonce, default: false)),
            DraftMember("app_attest", sections: DraftList(\TeamApp.attested), each: "bundle ID"),
        ]

        var allClientIDs: [String] { clientIDs + servicesIDs }

        /// The client IDs for sign-in in a browser: `services_ids`, or all client IDs if `services_ids` is
        /// absent. In the latter case, `ServiceSettings.webClients` removes the primary client ID, unless it
        /// is the only client ID.
        var clientIDsForBrowsers: [String] { servicesIDs.isEmpty ? clientIDs : servicesIDs }
    }

    /// A bundle ID that uses App Attest. The properties contain the text from the file.
    struct AttestedApp: SectionDraft {
        var bundleID = ""
        /// The `app_check` member: an `AppCheckMode` raw value.
        var mode: String?
        var environment: String?
        var platform: String?
        var firstAttestingVersion: String?

        static let empty = AttestedApp()
        static let members: [DraftMember<AttestedApp>] = [
            DraftMember("bundle_id", .text(\.bundleID)),
            DraftMember("app_check", .optionalWord(\.mode, default: AppCheckMode.off.rawValue)),
            DraftMember(
                "environment",
                .optionalWord(\.environment, default: AttestationEnvironment.production.rawValue)),
            DraftMember("platform", .optionalWord(\.platform, default: AppPlatform.iOS.rawValue)),
            DraftMember("first_attesting_version", .optionalText(\.firstAttestingVersion)),
        ]
    }

    /// An API key.
    struct Key: SectionDraft {
        var name = ""
        var hash = ""
        /// The apps that the key is limited to; `nil` if it has no limit.
        var apps: [String]?
        /// The key's roles, as written in the file. `nil` means `backend`.
        var roles: [String]?

        static let empty = Key()
        static let members: [DraftMember<Key>] = [
            DraftMember("name", .text(\.name)), DraftMember("hash", .text(\.hash)),
            DraftMember("apps", .optionalList(\.apps)), DraftMember("roles", .optionalList(\.roles)),
        ]
    }

    /// An event receiver.
    struct Webhook: SectionDraft {
        var name = ""
        var url = ""
        /// The events that the receiver gets; `nil` for all events.
        var events: [String]?
        /// The apps whose events the receiver gets; `nil` for all apps.
        var apps: [String]?
        var secretFiles: [String] = []
        var privateNetworks: [String]?
        /// The name of the API key that the receiver polls with. A receiver with an API key has no URL.
        var apiKey: String?
        /// The audience of security event tokens, which the receiver gets only if it has an audience.
        var audience: String?

        static let empty = Webhook()
        static let members: [DraftMember<Webhook>] = [
            DraftMember("name", .text(\.name)), DraftMember("url", .text(\.url)),
            DraftMember("events", .optionalList(\.events)), DraftMember("apps", .optionalList(\.apps)),
            DraftMember("secret_files", .list(\.secretFiles, default: [])),
            DraftMember("audience", .optionalText(\.audience)),
            DraftMember("api_key", .optionalText(\.apiKey)),
            DraftMember("private_networks", .optionalList(\.privateNetworks)),
        ]
    }
}
