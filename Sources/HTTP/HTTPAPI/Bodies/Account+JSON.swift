import AppleAccounts
import HTTPEngine
import NIOHTTP1
import StrictJSON

extension JSONWriter {
    mutating func value(_ account: Account) {
        beginObject()
        member("id", account.id.rawValue)
        member("team_id", account.team.rawValue)
        member("sub", account.subject.rawValue)
        member("email", ifPresent: account.email)
        member("email_verified", ifPresent: account.isEmailVerified)
        member("is_private_email", ifPresent: account.isPrivateEmail)
        member("email_forwarding", account.emailForwarding.rawValue)
        member("first_name", ifPresent: account.profile.firstName)
        member("last_name", ifPresent: account.profile.lastName)
        member("real_user_status", ifPresent: account.realUserStatus)
        if let disabling = account.disabling {
            name("disabled")
            value(disabling)
        }
        member("sessions_ended_at", ifPresent: account.sessionsEndedAt?.rfc3339)
        member("created_at", account.createdAt.rfc3339)
        member("last_sign_in_at", ifPresent: account.lastSignInAt?.rfc3339)
        name("credentials")
        beginArray()
        for credential in account.credentials {
            element()
            value(credential)
        }
        endArray()
        endObject()
    }
    private mutating func value(_ disabling: Disabling) {
        beginObject()
        member("reason", disabling.reason.rawValue)
        member("since", disabling.since.rfc3339)
        if disabling.until < .last { member("until", disabling.until.rfc3339) }
        endObject()
    }
}

extension HTTPResponse {
    /// The response with an account.
    static func account(_ account: Account) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 768)
        json.value(account)
        return .json(.ok, json.bytes)
    }
}
