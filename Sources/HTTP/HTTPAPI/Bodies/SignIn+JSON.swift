import AppleAccounts
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

extension SignInRequest {
    /// Reads the body of `POST /v1/sign-ins`.
    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        var token = IdentityTokenRequest.Draft()
        var user: UserProfile?
        var createsAccount = true
        while let name = try body.next() {
            if try token.read(name, from: &body) { continue }
            switch name {
            case "user": user = try body.value().flatMap(UserProfile.init(posted:))
            case "create": createsAccount = try body.bool("create") ?? true
            default: throw Problem.unknownMember(name)
            }
        }
        self.init(token: try token.finished(), user: user, createsAccount: createsAccount)
    }
}

extension HTTPResponse {
    /// The response to a sign-in: 201 when it created the account.
    ///
    /// - Parameter app: Result of judging the app; `nil` where it is not judged.
    static func signedIn(_ outcome: SignInOutcome, app: AppCheckResult? = nil) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 896)
        json.beginObject()
        json.name("account")
        json.value(outcome.account)
        json.name("credential")
        json.value(outcome.credential)
        json.member("is_new_account", outcome.isNewAccount)
        json.member("app_check", ifPresent: app)
        json.member("dropped", ifAny: outcome.dropped)
        json.endObject()
        return .json(outcome.isNewAccount ? .created : .ok, json.bytes)
    }
}
