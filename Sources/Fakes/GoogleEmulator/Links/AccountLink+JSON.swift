import EmulatorServer
public import StrictJSON

/// The link with its tokens, which the control API may show because it is for tests.
extension AccountLink: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("id") { $0.id }
        member("mode", .words(Mode.allCases.map(\.rawValue))) { $0.mode.rawValue }
        member(
            "status",
            .words(["linked", "failed", "unlinked_by_google", "unlinked_by_service", "refused"])
        ) { $0.status.word }
        member("error", "The reason why the link failed.") { $0.error }
        member("goes_on_in_browser", "For a failed link: true if Google continues in the browser.") {
            $0.error == nil ? nil : $0.goesOnInBrowser
        }
        member("sub", "The Google account.") { $0.subject }
        member("account", "The account in the app, from the introspection response.") { $0.account }
        member("scope") { $0.scope }
        member("access_token") { $0.accessToken }
        member("expires_at", "Seconds since 1970.") { $0.expiresAt }
        member("refresh_token") { $0.refreshToken }
        member("active", "The state of the access token, as the app's API last reported it.") { $0.isActive }
    }

    private var error: String? {
        if case .failed(let error) = status { error } else { nil }
    }
}

extension ServerClient.Response: JSONBody {
    static let schemaName = "ServerResponse"

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("status", "Absent if no response arrived.") { $0.status }
        member("body", "The authorization server's response, unchanged, if it is JSON.") { $0.json }
        member("text", "The beginning of another response.") { response in
            response.json != nil || response.body.isEmpty
                ? nil : String(decoding: response.body.prefix(4096), as: UTF8.self)
        }
    }
}

extension JSONValue: JSONMember {
    public static var schema: JSONSchema { "" }
    public func write(into json: inout JSONWriter) { json.value(self) }
}
