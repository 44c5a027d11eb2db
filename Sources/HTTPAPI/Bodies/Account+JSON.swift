import AppleAccounts
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
}
