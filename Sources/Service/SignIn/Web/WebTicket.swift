import AppleAccounts
import Encodings
import StrictJSON

/// Sealed data that the browser carries from the callback to the last step: the outcome of the sign-in, and
/// the digest of the browser's secret.
struct WebTicket: Hashable {
    /// The outcome of the sign-in.
    enum Outcome: Hashable {
        /// A code for the app's page.
        case code(String)
        /// An authentication for one of this service's pages.
        case authentication(WebAuthentication)
        case failure(WebFailure)
    }

    let browserDigest: [UInt8]
    let clientID: ClientID
    let expiresAt: Moment
    var destination: WebDestination
    let outcome: Outcome

    init(
        browserDigest: [UInt8], clientID: ClientID, expiresAt: Moment, destination: WebDestination,
        outcome: Outcome
    ) {
        self.browserDigest = browserDigest
        self.clientID = clientID
        self.expiresAt = expiresAt
        self.destination = destination
        self.outcome = outcome
    }

    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("browser", Base64URL.encode(browserDigest))
        json.member("client_id", clientID.rawValue)
        json.member("expires", expiresAt.milliseconds)
        json.members(of: destination)
        switch outcome {
        case .code(let code): json.member("code", code)
        case .authentication(let authentication): json.members(of: authentication)
        case .failure(let failure):
            json.member("error", failure.error)
            json.member("error_description", ifPresent: failure.description)
        }
        json.endObject()
        return json.bytes
    }

    init?(json: [UInt8]) {
        guard let value = try? JSONValue(parsing: json),
            let browser = value["browser"]?.string.flatMap({ Base64URL.decode($0) }),
            let clientID = value["client_id"]?.string.flatMap({ ClientID($0) }),
            let expires = value["expires"]?.integer
        else { return nil }
        let outcome: Outcome
        if let code = value["code"]?.string {
            outcome = .code(code)
        } else if let authentication = WebAuthentication(json: value) {
            outcome = .authentication(authentication)
        } else if let error = value["error"]?.string {
            outcome = .failure(WebFailure(error: error, description: value["error_description"]?.string))
        } else {
            return nil
        }
        self.init(
            browserDigest: browser, clientID: clientID, expiresAt: Moment(milliseconds: expires),
            destination: WebDestination(json: value), outcome: outcome)
    }
}

/// The value that is stored under a one-time code. It contains the account's ID, and no other data about the
/// user.
struct WebResult: Hashable {
    let accountID: AccountID
    /// The app's primary client ID.
    let clientID: ClientID
    let isNewAccount: Bool
    /// Names of the values that were dropped from Apple's form.
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
    /// - Throws: `CallerForbidden`; `AccountRefusal` with the code `account_not_found`, or `account_disabled`
    ///   if the account was disabled since the sign-in; `StorageError`.
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
