import AppleAccounts
import AppleIDClient
import StrictJSON

/// An account that could not be transferred in this run: a line of the failures file. The next run tries it
/// again.
struct TransferFailure: Equatable, Sendable {
    let accountID: AccountID
    /// An error code of this service or of Apple.
    let cause: String

    init(accountID: AccountID, cause: String) {
        (self.accountID, self.cause) = (accountID, cause)
    }

    init(accountID: AccountID, error: AppleCallError) {
        self.init(accountID: accountID, cause: error.appleError?.rawValue ?? error.code.rawValue)
    }

    var json: JSONObject {
        JSONObject([("account_id", .string(accountID.rawValue)), ("cause", .string(cause))])
    }
}
