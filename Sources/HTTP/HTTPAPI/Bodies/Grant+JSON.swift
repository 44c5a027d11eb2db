import AppleAccounts
import AuthorizationServer
import OAuth
import StrictJSON

extension JSONWriter {
    mutating func value(_ listed: GrantUseCases.Listed) {
        let grant = listed.grant
        beginObject()
        member("id", grant.id.rawValue)
        member("account_id", grant.accountID.rawValue)
        // The OAuth client, as in the events of grants.
        member("client_id", grant.oauthClientID.rawValue)
        member("client_name", ifPresent: listed.client?.name.english)
        member("app", grant.clientID.rawValue)
        member("scope", grant.scope)
        member("google_account_known", grant.googleSubject != nil)
        member("created_at", grant.createdAt.rfc3339)
        member("consented_at", grant.consentedAt.rfc3339)
        member("last_used_on", ifPresent: grant.lastUsedAt.map { String($0.rfc3339.prefix(10)) })
        endObject()
    }
}
