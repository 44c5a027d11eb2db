import SignIn
import StrictJSON

extension SignInRequest {
    /// The body of `POST /v1/sign-ins`.
    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        var token = IdentityTokenRequest.Draft()
        var user: UserProfile?
        var createsAccount = true
        while let name = try body.next() {
            if try token.take(name, from: &body) { continue }
            switch name {
            case "user": user = try body.value().map(UserProfile.init(posted:))
            case "create": createsAccount = try body.bool("create") ?? true
            default: throw Problem.unknownMember(name)
            }
        }
        self.init(token: try token.finished(), user: user, createsAccount: createsAccount)
    }
}
