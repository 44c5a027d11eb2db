import AppleAccounts
import NIOHTTP1
import StrictJSON

extension Answer {
    /// What became of a sign-in: 201 when it made the account.
    static func signedIn(_ outcome: SignInOutcome) -> Answer {
        var json = JSONWriter(reservingCapacity: 896)
        json.beginObject()
        json.name("account")
        json.value(outcome.account)
        json.name("credential")
        json.value(outcome.credential)
        json.member("is_new_account", outcome.isNewAccount)
        json.endObject()
        return .json(outcome.isNewAccount ? .created : .ok, json.bytes)
    }
}
