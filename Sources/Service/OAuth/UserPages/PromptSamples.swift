import AppleAccounts
package import AuthorizationServer

/// Prompts with an invented user's data, for page previews. Their form tokens are invalid.
package struct PromptSamples: Sendable {
    package let client: OAuthClient
    package let settings: OAuthSettings
    package let language: PageLanguage

    package init(client: OAuthClient, settings: OAuthSettings, language: PageLanguage) {
        (self.client, self.settings, self.language) = (client, settings, language)
    }

    private static let formToken = "sample"
    private static let day = Moment(seconds: 1_767_225_600)

    private var account: Account? {
        guard let team = TeamID("A1B2C3D4E5"), let subject = AppleSubject("001999.sample.0001") else {
            return nil
        }
        return Account(
            id: AccountID(UniqueID(high: 1, low: 1)), team: team, subject: subject,
            email: "a1b2c3d4e5@privaterelay.appleid.com", isEmailVerified: true, isPrivateEmail: true,
            profile: Profile(firstName: "Ada", lastName: "Example"), createdAt: Self.day)
    }

    private var sampleAccount: Account {
        guard let account else { preconditionFailure("the sample has a team and a subject") }
        return account
    }

    private var scopes: [DeclaredScope] { settings.scopes.declarations(of: client.scopes) }
    private var appName: LocalizedText { settings.appName(of: client.app) }

    /// The sample of the consent page; `nil` for a client without a redirect URI.
    package var consent: ConsentPrompt? {
        guard let registered = client.redirectURIs.first, let target = registered.target(for: registered.text)
        else { return nil }
        return ConsentPrompt(
            client: client, appName: appName, target: target, scopes: scopes, account: sampleAccount,
            formToken: Self.formToken)
    }

    package var device: DevicePrompt {
        DevicePrompt(
            client: client, appName: appName, account: sampleAccount, scopes: scopes, userCode: userCode,
            origin: DeviceAuthorization.Origin(address: "203.0.113.7", userAgent: "Example TV"),
            minutesAgo: 1, formToken: Self.formToken)
    }

    private var userCode: UserCode {
        guard let code = UserCode(entered: "BCDF-GHJK") else { preconditionFailure("eight consonants") }
        return code
    }

    package var deviceQuery: DeviceQuery {
        DeviceQuery("user_code=\(userCode.text)", among: settings.languages)
    }

    package var connections: ConnectionList {
        let grant = GrantRecord(
            id: GrantID(UniqueID(high: 1, low: 2)), accountID: sampleAccount.id, oauthClientID: client.id,
            clientID: client.app, scope: client.scopes.text, createdAt: Self.day, consentedAt: Self.day,
            authorizedAt: Self.day, lastUsedAt: Self.day)
        return ConnectionList(
            account: sampleAccount, appName: appName,
            connections: [
                ConnectionList.Connection(
                    grant: grant, client: client, name: client.name, scopes: scopes.map(\.text),
                    formToken: Self.formToken)
            ])
    }

    package var logout: LogoutPrompt {
        LogoutPrompt(
            client: client, appName: appName, account: sampleAccount, target: nil, query: "",
            formToken: Self.formToken)
    }
}
