import AppleAccounts
import StrictJSON

/// The value stored for a one-time code. It has the ID of an account, and no other data about the user.
struct WebResult: Hashable {
    let accountID: AccountID
    /// The app's primary client ID.
    let clientID: ClientID
    let isNewAccount: Bool
    /// The names of values of Apple's form that were dropped.
    let dropped: [String]

    init(accountID: AccountID, clientID: ClientID, isNewAccount: Bool, dropped: [String] = []) {
        (self.accountID, self.clientID, self.isNewAccount) = (accountID, clientID, isNewAccount)
        self.dropped = dropped
    }

    init(_ outcome: SignInOutcome) {
        self.init(
            accountID: outcome.account.id, clientID: outcome.credential.clientID,
            isNewAccount: outcome.isNewAccount, dropped: outcome.dropped)
    }

    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 128)
        json.beginObject()
        json.member("account_id", accountID.rawValue)
        json.member("client_id", clientID.rawValue)
        json.member("is_new_account", isNewAccount)
        if !dropped.isEmpty { json.member("dropped", dropped.joined(separator: " ")) }
        json.endObject()
        return json.bytes
    }

    init?(json: [UInt8]) {
        guard let value = try? JSONValue(parsing: json),
            let accountID = value["account_id"]?.string.flatMap({ AccountID($0) }),
            let clientID = value["client_id"]?.string.flatMap({ ClientID($0) }),
            let isNewAccount = value["is_new_account"]?.bool
        else { return nil }
        let dropped = value["dropped"]?.string?.split(separator: " ").map(String.init) ?? []
        self.init(accountID: accountID, clientID: clientID, isNewAccount: isNewAccount, dropped: dropped)
    }
}

extension SignInUseCases {
    /// Returns the outcome of a web sign-in, with the account's current state.
    ///
    /// - Throws: `CallerForbidden`, `AccountRefusal` `account_not_found`, `account_disabled` for an account
    ///   that was disabled since, `StorageError`.
    func outcome(of result: WebResult, allowed: AppScope) async throws -> SignInOutcome {
        guard let app = deployment.app(for: result.clientID), allowed.allows(app) else {
            throw CallerForbidden()
        }
        let account = try await account(id: result.accountID.rawValue, allowed: allowed)
        guard let credential = account.credentials.first(where: { $0.clientID == app.primaryClientID }) else {
            throw AccountRefusal(.accountNotFound)
        }
        guard account.disabling == nil else { throw AccountRefusal(.accountDisabled) }
        var outcome = SignInOutcome(
            account: account, credential: credential, isNewAccount: result.isNewAccount)
        outcome.dropped = result.dropped
        return outcome
    }
}
